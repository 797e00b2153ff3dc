// Pages are synchronised as they had to be before: a commit does that.
// RUN: %seeded %s
#include "seeded.h"

#include <stdint.h>
#include <sys/mman.h>

struct count {
  long value;
};

int main(int argc, char **argv) {
  struct count *c = CREATE(argv, struct count);
  for (int i = 0; i < 3; i++) {
    nvm_tx_begin(pool);
    c->value++;
#ifdef BUG
    msync((void *)((uintptr_t)c & ~(uintptr_t)4095), 4096, MS_SYNC); // FOUND: redundant flush
#endif
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
