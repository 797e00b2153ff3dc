// The program writes into the file of its pool, past the pool: no transaction covers that.
// RUN: %seeded %s
#define _GNU_SOURCE
#include "seeded.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct record {
  long first, second, third;
  char more[4096], text[16];
};

int main(int argc, char **argv) {
  struct record *r = CREATE(argv, struct record);
  long value = 77;
  nvm_tx_begin(pool);
  r->first = 1;
  nvm_tx_commit(pool);
#ifdef BUG
  int fd = open(argv[1], O_RDWR);
  long base = (long)nvm_pool_base(pool);
  pwrite(fd, &value, sizeof value, (long)&r->second - base);              // FOUND: unseen store
  lseek(fd, (long)r->text - base, SEEK_SET);
  write(fd, "by write", 8);                                               // FOUND: unseen store
  nvm_tx_begin(pool);
  r->first = 2;
  syscall(SYS_pwrite64, fd, &value, sizeof value, (long)&r->third - base); // FOUND: unseen store
  nvm_tx_commit(pool);
  close(fd);
#endif
  nvm_tx_begin(pool);
  r->first = 3;
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
