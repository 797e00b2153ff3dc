// A library that nothing instruments writes, while a transaction is open; by write() and by a system call.
// RUN: %seeded %s
#include "seeded.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef ELSEWHERE
long written;
int ssl_write(int fd, const char *text) {
  written += write(fd, text, strlen(text)); // FOUND: output before commit
  return 0;
}
int raw_write(int fd, const char *text) {
  written += syscall(SYS_write, fd, text, strlen(text)); // FOUND: output before commit
  return 0;
}
long last_write(int fd, const char *text) { return write(fd, text, strlen(text)); } // jumps there
#else
int ssl_write(int fd, const char *text);
int raw_write(int fd, const char *text);
long last_write(int fd, const char *text);

struct account {
  long balance;
};

int main(int argc, char **argv) {
  struct account *a = CREATE(argv, struct account);
  int to[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, to))
    return 1;
  nvm_tx_begin(pool);
  a->balance = 7;
#ifndef BUG
  nvm_tx_commit(pool);
#endif
  int wrong = ssl_write(to[1], "paid\n") || raw_write(to[1], "paid\n");
  wrong |= last_write(to[1], "paid\n") != 5; // FOUND: output before commit
  wrong |= write(to[1], "paid\n", 5) != 5;    // FOUND: output before commit
#ifdef BUG
  nvm_tx_commit(pool);
#endif
  return wrong + nvm_pool_close(pool);
}
#endif
