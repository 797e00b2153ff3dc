// A finding says who called, also where the call was inlined. A failure point is a place of
// the source reached by the same calls; a function that calls itself counts once.
// RUN: rm -rf %t && mkdir %t
// RUN: %cc -O0 %s -o %t/plain && rm -f %pool && %exit 1 %crash --keep %t/trace -- %t/plain one %pool | FileCheck %s
// RUN: %cc -O2 %s -o %t/fast && rm -f %pool && %exit 1 %crash -- %t/fast one %pool | FileCheck %s
// RUN: rm -f %pool && %exit 1 %crash --keep %t/deep -- %t/plain deep %pool | FileCheck %s
// RUN: rm -f %pool && %exit 1 %crash --keep %t/two -- %t/plain two %pool | FileCheck %s
// RUN: %python %S/Inputs/callers.py %nvmove --same %t/trace %t/deep --more %t/two
#include "nvmove/nvmove.h"
#include <string.h>

struct root {
  long count, again;
};
static NVM_POOL *pool;
static struct root *root;
static int depth = 3;

static inline void add(void) {
  nvm_tx_begin(pool);
  root->count++;
  nvm_tx_commit(pool);
  root->again++; // CHECK: callers.c:[[#@LINE]]:{{.*}} error: write outside a transaction
  // CHECK: callers.c:{{.*}} note: called from down
  // CHECK: callers.c:{{.*}} note: called from middle
  // CHECK: callers.c:{{.*}} note: called from work
  // CHECK: callers.c:{{.*}} note: called from main
  // CHECK-NOT: note: called from
  // CHECK: at {{[1-9][0-9]*}} failure points
}

__attribute__((noinline)) static void down(int left) {
  if (left == 0)
    add();
  else
    down(left - 1);
  __asm__ volatile("" ::: "memory"); // no tail call
}

static inline void middle(void) { down(depth); }

__attribute__((noinline)) static void work(void) {
  middle();
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[2], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  for (int i = 0; i < 6; i++) {
    depth = i % 2 && strcmp(argv[1], "deep") == 0 ? 7 : 3;
    if (i % 2 && strcmp(argv[1], "two") == 0)
      work();
    else
      work();
  }
  return argc != 3 || nvm_pool_close(pool);
}
