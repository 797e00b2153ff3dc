// A commit over two pools that looks twice: another thread has stored an unsafe pointer over its own. In the first pool
// it has a new block, whose stores have no entries. Nothing may be found.
// RUN: %cc -O1 -pthread %s -o %t && rm -f %pool %pool.other
// RUN: env NVMOVE_METHOD=undo NVMOVE_DOMAIN=power %exit 1 %crash --epoch-states 512 --samples 128 -- %t %pool >%t.out
// RUN: FileCheck %s <%t.out
// CHECK: {{[1-9][0-9]*}} commits
// CHECK: not covered: another pool was opened
// CHECK: no error
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = 40 };
typedef NVM_STRUCT list {
  NVM_PTR(struct list) next;
  long number[NUMBERS];
}
list;

static NVM_POOL *pool, *other;
static list *shared, *root, volatile_list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int step;

static list *make_root(NVM_POOL *of) {
  nvm_tx_begin(of);
  list *made = nvm_calloc(of, NVM_TYPE_ID(list), 1, sizeof *made);
  nvm_pool_set_root(of, made);
  nvm_tx_commit(of);
  return made;
}

static void reach(int next) {
  while (step != next - 1)
    sched_yield();
  step = next;
}

static void *store_over(void *unused) {
  reach(1);
  while (step != 2)
    sched_yield();
  pthread_mutex_lock(&lock);
  nvm_tx_begin(other);
  shared->next = &volatile_list;
  reach(3);
  while (step != 4)
    sched_yield();
  nvm_tx_commit(other); /* fails: NVM_EUNSAFE */
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(int argc, char **argv) {
  char path[4096];
  snprintf(path, sizeof path, "%s.other", argv[1]);
  unlink(path);
  pool = nvm_pool_create(argv[1], 1 << 20);
  other = nvm_pool_create(path, 1 << 20);
  root = make_root(pool);
  shared = make_root(other);
  pthread_t thread;
  pthread_create(&thread, NULL, store_over, NULL);
  while (step != 1)
    sched_yield();
  nvm_tx_begin(pool);
  list *fresh = nvm_alloc(pool, NVM_TYPE_ID(list), sizeof *fresh);
  fresh->next = NULL;
  for (int i = 0; i < NUMBERS; i++)
    fresh->number[i] = 1000 + i;
  root->next = fresh;
  pthread_mutex_lock(&lock);
  shared->next = shared;
  pthread_mutex_unlock(&lock);
  reach(2);
  while (step != 3)
    sched_yield();
  int failed = nvm_tx_commit(pool);
  reach(4);
  pthread_join(thread, NULL);
  nvm_pool_close(pool);
  nvm_pool_close(other);
  return failed || argc != 2;
}
