// What a commit point ends is a transaction; what a beginning ends, or nothing but the end of the thread, was
// stored outside one.
// RUN: %cc -O1 %s -o %t
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash --epoch-states 4096 --samples 256 -- %t turns %pool | FileCheck --check-prefix=NONE %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash --epoch-states 4096 --samples 256 -- %t turns %pool | FileCheck --check-prefix=NONE %s
// NONE-NOT: outside
// NONE: no finding: every state
// RUN: rm -f %pool && %exit 1 %crash --epoch-states 4096 --samples 256 -- %t begun %pool | FileCheck --check-prefix=BEGUN %s
// RUN: rm -f %pool && %exit 1 %crash --epoch-states 4096 --samples 256 -- %t never %pool | FileCheck --check-prefix=NEVER %s
// RUN: rm -f %pool && %exit 1 %crash --epoch-states 4096 --samples 256 -- %t other %pool | FileCheck --check-prefix=OTHER %s
// The same by a port file.
// RUN: %cc -O1 -DPLAIN %s --nvmove-port=%S/Inputs/points.port -o %t
// RUN: rm -f %pool && %crash --epoch-states 4096 --samples 256 -- %t turns %pool | FileCheck --check-prefix=NONE %s
// RUN: rm -f %pool && %exit 1 %crash --epoch-states 4096 --samples 256 -- %t begun %pool | FileCheck --check-prefix=BEGUN %s
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <string.h>

struct root {
  long from, to, turns, other;
};
static NVM_POOL *pool;
static struct root *root;

#ifdef PLAIN
#undef NVM_COMMIT_POINT
#define NVM_COMMIT_POINT
#endif
__attribute__((noinline)) NVM_COMMIT_POINT void turn_ends(void) { __asm__ volatile(""); }

static void move(void) {
  root->from--;
  // NEVER: points.c:[[#@LINE-1]]:{{.*}} error: write outside a transaction: store of 8 bytes{{.*}}: no commit point ends what it belongs to
  // NEVER: points.c:[[#@LINE+1]]:{{.*}} error: write outside a transaction: store of 8 bytes
  root->to++;
}

static void *run(void *unused) {
  root->other++;
  // OTHER: points.c:[[#@LINE-1]]:{{.*}} error: write outside a transaction: store of 8 bytes
  // OTHER-NOT: error:
  return unused;
}

int main(int argc, char **argv) {
  const char *mode = argv[1];
  pool = nvm_pool_create(argv[2], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  for (int i = 0; i < 3; i++) {
    move();
    if (strcmp(mode, "never") != 0)
      turn_ends();
  }
  if (strcmp(mode, "begun") == 0) {
    root->turns = 3;
    // BEGUN-NOT: error:
    // BEGUN: points.c:[[#@LINE-2]]:{{.*}} error: write outside a transaction: store of 8 bytes
    // BEGUN-NOT: error:
    nvm_tx_begin(pool);
    root->other = 3;
    nvm_tx_commit(pool);
  }
  if (strcmp(mode, "other") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(mode, "never") != 0)
    root->turns += 7; // the last turn ends with the pool
  return argc != 3 || nvm_pool_close(pool);
}
