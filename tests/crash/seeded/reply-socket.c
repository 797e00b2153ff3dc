// The same with the calls of sockets.
// RUN: %seeded %s
#include "seeded.h"

#include <sys/socket.h>
#include <sys/uio.h>

struct log {
  long count;
};

static void reply(int fd) {
  struct iovec part = {"stored\n", 7};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  send(fd, "stored\n", 7, 0); // FOUND: output before commit
  sendmsg(fd, &message, 0);   // FOUND: output before commit
  writev(fd, &part, 1);       // FOUND: output before commit
}

int main(int argc, char **argv) {
  struct log *l = CREATE(argv, struct log);
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  nvm_tx_begin(pool);
  l->count++;
#ifdef BUG
  reply(ends[0]);
#endif
  nvm_tx_commit(pool);
  reply(ends[0]);
  return nvm_pool_close(pool);
}
