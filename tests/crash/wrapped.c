// A right program that stores through nvmove/wrap.h, with each method: words, blocks that overlap, new blocks that
// come and go, wraps in wraps, one that is undone, locks that are released early. Nothing may be found.
// RUN: %cc -O2 -pthread %s -o %t && rm -f %pool
// RUN: %crash --method=undo %sizes{--epoch-states 16 --samples 6|} -- %t %pool | FileCheck --check-prefixes=CHECK,UNDO %s
// RUN: rm -f %pool && %crash --method=shadow %sizes{--epoch-states 16 --samples 6|} -- %t %pool | FileCheck --check-prefixes=CHECK,SHADOW %s
// RUN: rm -f %pool && %crash --method=lat %sizes{--epoch-states 16 --samples 6|} -- %t %pool | FileCheck --check-prefixes=CHECK,LAT %s
// RUN: rm -f %pool && %crash --method=latb %sizes{--epoch-states 16 --samples 6|} -- %t %pool | FileCheck --check-prefixes=CHECK,LATB %s
// RUN: rm -f %pool && %crash --method=lat --model=process -- %t %pool | FileCheck --check-prefixes=CHECK,LAT %s
// RUN: rm -f %pool && %crash --method=latb --model=process -- %t %pool | FileCheck --check-prefixes=CHECK,LATB %s
// CHECK-NOT: error:
// UNDO: method undo
// SHADOW: method shadow
// LAT: method lat{{$}}
// LATB: method latb
// CHECK: no {{error|finding}}
#include "nvmove/wrap.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct item {
  struct item *next;
  uint64_t number;
  char text[100];
};
static struct root {
  uint64_t count, words[40];
  char text[300];
  struct item *first;
} *root;

static NVM_POOL *pool;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_item(uint64_t number) {
  struct item *item = nvm_alloc(pool, 0, sizeof *item), values = {.number = number};
  snprintf(values.text, sizeof values.text, "item %d", (int)number);
  values.next = (struct item *)nvm_wrap_load64(&root->first);
  nvm_wrap_write(item, &values, sizeof values);
  nvm_wrap_store64(&root->first, (uint64_t)item);
  nvm_wrap_open(pool);
  nvm_wrap_store64(&root->count, nvm_wrap_load64(&root->count) + 1);
  nvm_wrap_close(pool);
}

static void remove_item(void) {
  struct item *item = (struct item *)nvm_wrap_load64(&root->first);
  nvm_wrap_store64(&root->first, nvm_wrap_load64(&item->next));
  nvm_wrap_store64(&root->count, nvm_wrap_load64(&root->count) - 1);
  nvm_free(item);
}

static void change_text(unsigned i) {
  char text[300];
  memset(text, 'a' + i % 26, sizeof text);
  nvm_wrap_write(root->text + i % 7, text, 20 + 50 * (i % 5));
  nvm_wrap_store64(root->text + 3 + 8 * (i % 11), 0x4141414141414141u + i);
  nvm_wrap_read(text, root->text, sizeof text);
  nvm_wrap_store64(&root->words[i % 40], (uint64_t)text[5] + i);
}

static void *add_under_lock(void *number) {
  for (unsigned i = 0; i < 3; i++) {
    nvm_wrap_open(pool);
    pthread_mutex_lock(&lock);
    nvm_wrap_store64(&root->words[0], nvm_wrap_load64(&root->words[0]) + 1);
    pthread_mutex_unlock(&lock);
    nvm_wrap_store64(&root->words[8 * (uint64_t)number], i + 1);
    nvm_wrap_close(pool);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  (void)argc;
  if (access(argv[1], F_OK) == 0 || !(pool = nvm_pool_create(argv[1], 1 << 20)))
    return 1;
  nvm_wrap_open(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  if (nvm_wrap_close(pool))
    return 1;
  for (unsigned i = 0; i < 12; i++) {
    nvm_wrap_open(pool);
    add_item(i);
    change_text(i);
    if (i % 3 == 2)
      remove_item();
    if (i % 4 == 1)
      nvm_tx_abort(pool);
    else if (nvm_wrap_close(pool))
      return 1;
  }
  pthread_create(&thread, NULL, add_under_lock, (void *)1);
  add_under_lock((void *)2);
  pthread_join(thread, NULL);
  return nvm_pool_close(pool) != 0;
}
