// Memory that changes its use: what was a table of small blocks becomes one large block and back, logs take runs of
// their own, the pool grows, threads come and go. Nothing may be found.
// RUN: %cc -O1 -pthread -DTURNS=3 %s -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash %sizes{--epoch-states 2 --samples 1 --per-point 2 --interrupt-every 1000|--epoch-states 4 --samples 2} -- %t %pool | FileCheck %s
// RUN: rm -f %pool
// RUN: env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 2 --samples 1 --per-point 2 --interrupt-every 1000|--epoch-states 4 --samples 2} -- %t %pool | FileCheck %s
// CHECK: {{[1-9][0-9]*}} commits
// CHECK-NOT: not covered
// CHECK: no finding
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 60, BYTES = 200000, BALLAST = 600000, WORDS = 2500 };

#ifndef TURNS
#define TURNS 15 /* more than a short test has time for: recycled-long.test, tests/mutation/mutate.py */
#endif

static NVM_POOL *pool;
static struct root {
  long turn, count, beside;
  char *block[SLOTS];
  long words[WORDS];
} *root;

static const size_t sizes[] = {30000, 24, 130000, 3000, 70000, 100};

/* What the pool has room for, of one size; marked at both ends, the first where a table may have been. */
static void fill(long turn) {
  size_t size = sizes[turn / 2 % (sizeof sizes / sizeof *sizes)];
  root->count = BYTES / size < SLOTS ? BYTES / size : SLOTS;
  for (long i = 0; i < root->count; i++) {
    char *block = nvm_alloc(pool, 0, size);
    memset(block, 0x55, 64);
    block[size - 1] = 1;
    root->block[i] = block;
  }
}

/* With a last store to each, which is worth nothing afterwards, and must not come back over a table
 * that takes its place. */
static void drop(void) {
  for (long i = 0; i < root->count; i++) {
    memset(root->block[i], 0xee, root->count < 20 ? 1024 : 16);
    nvm_free(root->block[i]);
  }
  root->count = 0;
}

/* More than a log's first segment holds. */
static void write_much(long turn) { memset(root->words, (int)turn, sizeof root->words); }

static void *write_beside(void *unused) {
  nvm_tx_begin(pool);
  root->beside++;
  nvm_tx_commit(pool);
  return unused;
}

int main(int argc, char **argv) {
  (void)argc;
  pool = nvm_pool_create(argv[1], 1 << 20);
  if (!pool)
    return 1;
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_alloc(pool, 0, BALLAST);
  nvm_tx_commit(pool);
  for (long turn = 1; turn <= TURNS; turn++) {
    nvm_tx_begin(pool);
    if (turn % 2)
      fill(turn);
    else
      drop();
    if (turn % 4 == 3)
      write_much(turn);
    nvm_tx_commit(pool);
    nvm_tx_begin(pool);
    root->turn = turn;
    nvm_tx_commit(pool);
    if (turn < TURNS - 3)
      continue; /* alone until here */
    pthread_t thread;
    pthread_create(&thread, NULL, write_beside, NULL);
    pthread_join(thread, NULL);
  }
  return nvm_pool_close(pool) != 0;
}
