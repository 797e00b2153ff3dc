// In a thread that passes no commit point the release of a lock commits what was stored outside transactions: it is not lost.
// RUN: %cc -O1 -pthread %s -o %t
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash -- %t %pool locked | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash -- %t %pool locked | FileCheck %s
// CHECK: no finding: every state
// What is stored behind the release is not committed by it.
// RUN: rm -f %pool && %exit 1 %crash -- %t %pool behind | FileCheck --check-prefix=BEHIND %s
// BEHIND: released.c:[[#@LINE+18]]:{{.*}} error: write outside a transaction
// BEHIND: {{^}}1 finding
#include "nvmove/nvmove.h"
#include <pthread.h>
#include <string.h>

struct pair {
  long up, down;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void change(struct pair *pair, int is_late) {
  pthread_mutex_lock(&lock);
  pair->up++;
  if (!is_late)
    pair->down--;
  pthread_mutex_unlock(&lock);
  if (is_late)
    pair->down--;
}

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  pthread_mutex_lock(&lock);
  struct pair *pair = nvm_calloc(pool, NVM_TYPE_ID(struct pair), 1, sizeof *pair);
  nvm_pool_set_root(pool, pair);
  pthread_mutex_unlock(&lock);
  change(pair, argc == 3 && !strcmp(argv[2], "behind"));
  return nvm_pool_close(pool);
}
