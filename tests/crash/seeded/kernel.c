// The kernel stores, by a call that nobody describes.
// RUN: %seeded %s
#define _GNU_SOURCE
#include "seeded.h"

#include <sys/syscall.h>
#include <unistd.h>

struct page {
  char bytes[64];
  long length;
};

int main(int argc, char **argv) {
  struct page *p = CREATE(argv, struct page);
  int ends[2];
  pipe(ends);
  write(ends[1], "sixteen bytes...", 16);
  nvm_tx_begin(pool);
#ifdef BUG
  p->length = syscall(SYS_read, ends[0], p->bytes, sizeof p->bytes); // FOUND: unseen store
#else
  p->length = read(ends[0], p->bytes, sizeof p->bytes);
#endif
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
