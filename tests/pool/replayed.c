// A pool that nobody closed: what its log mends at the next opening is no damage.
// RUN: %cc %s -o %t && env NVMOVE_METHOD=shadow %t %pool
// RUN: %nvmove pool check %pool | FileCheck %s && %nvmove pool repair %pool -n | FileCheck --check-prefix=WHOLE %s
// CHECK: no faults
// WHOLE: nothing is wrong
// RUN: env NVMOVE_METHOD=shadow %t %pool again
// RUN: %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=DAMAGE %s
// DAMAGE: a run of so many chunks ends outside the heap
#include "nvmove/nvmove.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { TABLE = 1 << 16, CHUNKS = 128, WORD = 8 };

/* The last word of the heap's table that is not zero, which says how long a run is, gets a length that cannot be. */
static int damage(const char *path) {
  int file = open(path, O_RDWR);
  uint64_t words[CHUNKS];
  if (pread(file, words, sizeof words, TABLE) != sizeof words)
    return 1;
  unsigned last = CHUNKS;
  while (last && !words[last - 1])
    last--;
  words[last - 1] |= UINT64_C(1) << 50;
  return !last || pwrite(file, &words[last - 1], WORD, TABLE + (last - 1) * WORD) != WORD;
}

int main(int argc, char **argv) {
  NVM_POOL *pool = argc == 2 ? nvm_pool_create(argv[1], 8 << 20) : nvm_pool_open(argv[1]);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  if (argc == 2) {
    nvm_tx_begin(pool);
    nvm_pool_set_root(pool, nvm_alloc(pool, 0, 300 << 10));
    nvm_tx_commit(pool);
  } else if (nvm_pool_close(pool)) {
    return 3;
  }
  _exit(damage(argv[1]));
}
