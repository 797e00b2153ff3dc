// One log that goes from thread to thread, a log that grew and is short again after closing, and types that a pool
// meets for the first time. Nothing may be found.
// RUN: %cc -O1 -pthread %s -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash --epoch-states 16 --samples 4 -- %t %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash --epoch-states 16 --samples 4 -- %t %pool | FileCheck %s
// CHECK: {{[1-9][0-9]*}} commits
// CHECK-NOT: not covered
// CHECK: no finding
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <string.h>

enum { BLOCKS = 6, BLOCK = 70000, TEXT = 40000 };

#define TYPE(name)                                                                                                     \
  NVM_STRUCT name {                                                                                                    \
    long value, more;                                                                                                  \
  }
TYPE(one);
TYPE(two);
TYPE(three);

static const char *path;
static NVM_POOL *pool;
static struct root {
  long turn;
  char *block[BLOCKS];
  struct one *one;
  struct two *two;
  struct three *three;
  char text[TEXT];
} *root;

static void *create(void *unused) {
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  return unused;
}

static void *count(void *unused) {
  nvm_tx_begin(pool);
  root->turn++;
  nvm_tx_commit(pool);
  return unused;
}

/* More than a log's first segment holds. */
static void *write_much(void *unused) {
  nvm_tx_begin(pool);
  memset(root->text, 'x', TEXT);
  nvm_tx_commit(pool);
  return unused;
}

/* Where that log had its second segment. */
static void *take_all(void *unused) {
  for (int i = 0; i < BLOCKS; i++) {
    nvm_tx_begin(pool);
    root->block[i] = nvm_alloc(pool, 0, BLOCK);
    if (i % 2) /* without a store nothing of the block is in the log */
      memset(root->block[i], 'y', 128);
    nvm_tx_commit(pool);
  }
  return unused;
}

#define MEET(name)                                                                                                     \
  nvm_tx_begin(pool);                                                                                                  \
  root->name = nvm_alloc(pool, NVM_TYPE_ID(struct name), sizeof(struct name));                                         \
  root->name->value = 7;                                                                                               \
  nvm_tx_commit(pool)

static void *meet(void *unused) {
  MEET(one);
  MEET(two);
  MEET(three);
  return unused;
}

static void in_thread(void *(*work)(void *)) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
}

static int open_again(void) {
  int failed = nvm_pool_close(pool);
  pool = nvm_pool_open(path);
  root = pool ? nvm_pool_root(pool) : NULL;
  return failed;
}

int main(int argc, char **argv) {
  (void)argc;
  path = argv[1];
  pool = nvm_pool_create(path, 1 << 20);
  if (!pool)
    return 1;
  in_thread(create);
  for (int i = 0; i < 4; i++)
    in_thread(count);
  in_thread(meet);
  in_thread(write_much);
  if (open_again())
    return 1;
  in_thread(take_all);
  for (int i = 0; i < 3; i++)
    in_thread(count);
  return nvm_pool_close(pool) != 0;
}
