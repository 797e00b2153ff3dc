// free, realloc, reallocarray and malloc_usable_size of pool memory by code that clang compiled: killed at each
// append, with both methods, the blocks and what is in them are those of one of the transactions.
// RUN: clang-19 -O2 -DLIBRARY -c %s -o %t.library.o
// RUN: %crash %s %t.library.o | FileCheck %s
// CHECK: -O0 undo: {{[1-9][0-9]*}} crashes survived
// CHECK: -O0 shadow: {{[1-9][0-9]*}} crashes survived
// CHECK: -O3 -march=native undo: {{[1-9][0-9]*}} crashes survived
// CHECK: -O3 -march=native shadow: {{[1-9][0-9]*}} crashes survived
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>

void library_free(void *block);
void *library_resize(void *block, size_t size);
void *library_resize_array(void *block, size_t count, size_t size);
size_t library_usable(void *block);

#ifdef LIBRARY
void library_free(void *block) { free(block); }
void *library_resize(void *block, size_t size) { return realloc(block, size); }
void *library_resize_array(void *block, size_t count, size_t size) { return reallocarray(block, count, size); }
size_t library_usable(void *block) { return malloc_usable_size(block); }
#else
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS = 4, TURNS = 3 };
// What the root says of its blocks is so in each state that is left.
struct root {
  unsigned char *slot[SLOTS];
  size_t size[SLOTS];
  unsigned char with[SLOTS];
  int blocks;
};
static NVM_POOL *pool;
static struct root *root;

static void put(int slot, void *block, size_t size, int with) {
  root->blocks += !root->slot[slot] - !block;
  root->slot[slot] = block;
  root->size[slot] = size;
  root->with[slot] = (unsigned char)with;
  if (block)
    memset(block, with, size);
}

static int holds(int slot, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (root->slot[slot][i] != root->with[slot])
      return 0;
  return 1;
}

static void say(void *context, const char *line) { (void)context, puts(line); }

static int check(void) {
  struct nvm_usage usage;
  root = nvm_pool_root(pool);
  if (nvm_pool_verify(pool, say, NULL) || nvm_pool_usage(pool, &usage))
    return 1;
  if (!root)
    return usage.blocks != 0;
  for (int i = 0; i < SLOTS; i++)
    if (root->slot[i] && (library_usable(root->slot[i]) < root->size[i] || !holds(i, root->size[i])))
      return printf("slot %d\n", i);
  return usage.blocks != (uint64_t)root->blocks + 1 ? printf("%d blocks\n", (int)usage.blocks) : 0;
}

// Grown, moved, made smaller, freed: each keeps what was in it.
static int turn(int n) {
  void *block = library_resize(root->slot[0], 300 + 700 * (size_t)n);
  root->slot[0] = block;
  int wrong = !holds(0, root->size[0]);
  put(0, block, 300 + 700 * (size_t)n, n + 1);
  block = library_resize_array(root->slot[1], 10 + (size_t)n % 2, 3000);
  root->slot[1] = block;
  wrong |= !holds(1, root->size[1] < 30000 ? root->size[1] : 30000);
  put(1, block, (10 + (size_t)n % 2) * 3000, n + 2);
  library_free(root->slot[2]);
  put(2, n % 2 ? nvm_alloc(pool, 0, 5000) : NULL, 5000, n + 3);
  if (n == 1)
    put(3, library_resize(root->slot[3], 0), 0, 0); // which frees
  else
    put(3, n ? nvm_alloc(pool, 0, 20) : library_resize(root->slot[3], library_usable(root->slot[3]) + 1), 20, n);
  return wrong || nvm_pool_of(root->slot[0]) != pool || nvm_pool_of(root->slot[1]) != pool;
}

int main(int argc, char **argv) {
  pool = nvm_pool_open(argv[2]);
  if (!pool && !(pool = nvm_pool_create(argv[2], 1 << 20)))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  if (!strcmp(argv[1], "check"))
    return check();
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  for (int i = 0; i < SLOTS; i++)
    put(i, nvm_alloc(pool, 0, 40), 40, i);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  for (int i = 0; i < TURNS; i++) {
    struct root before = *root;
    nvm_tx_begin(pool);
    if (turn(i))
      return puts("a block lost what was in it"), 1;
    nvm_tx_abort(pool);
    if (memcmp(&before, root, sizeof before) || check())
      return puts("the abort left something"), 1;
    nvm_tx_begin(pool);
    turn(i);
    if (nvm_tx_commit(pool) || check())
      return puts("the commit lost something"), 1;
  }
  return argc != 3 || nvm_pool_close(pool);
}
#endif
