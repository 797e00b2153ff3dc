// A pointer to a block that was freed and given out as another type gets a hint; casts that fit get none.
// RUN: %cc %s -o %t
// RUN: %t %pool reused && %nvmove pool check %pool | FileCheck --check-prefix=REUSED %s
// RUN: %nvmove pool check --format=json %pool | FileCheck --check-prefix=JSON %s
// REUSED-COUNT-1: hint: field items of struct all at 0x{{.*}} leads to 0x{{.*}}, a block of struct page, which has nothing of struct item there (and 2 more): freed and given out again, or a cast
// REUSED-NOT: hint
// REUSED: no faults
// JSON: "hints": [
// JSON-NEXT: field items of struct all at
// RUN: %t %pool whole && %nvmove pool check %pool | FileCheck --check-prefix=WHOLE %s
// WHOLE-NOT: hint
// WHOLE: no faults
#include "nvmove/nvmove.h"
#include <string.h>
#include <unistd.h>

struct item {
  struct item *next;
  long key;
};
struct page {
  long number;
  struct page *other;
};
struct holder { // has an item inside, and begins as one
  struct item first;
  long more;
  struct item second;
};
struct flexible { // its items stand behind it
  long count;
  struct item items[];
};
struct classic {
  long count;
  struct item items[1];
};
struct arena { // large: a check looks at no byte of it
  struct item *first;
  unsigned char bytes[32 << 20];
};
struct text {
  char bytes[16];
};
struct all {
  struct item *items[8];
  struct holder *holder;
  struct text *text;
  struct page *page;
  struct flexible *flexible;
  struct classic *classic;
  struct arena *arena;
};

int main(int argc, char **argv) {
  unlink(argv[1]);
  NVM_POOL *pool = nvm_pool_create(argv[1], 64 << 20);
  nvm_tx_begin(pool);
  struct all *all = nvm_calloc(pool, NVM_TYPE_ID(struct all), 1, sizeof *all);
  nvm_pool_set_root(pool, all);
  for (int i = 0; i < 4; i++)
    all->items[i] = nvm_calloc(pool, NVM_TYPE_ID(struct item), 1, sizeof(struct item));
  all->holder = nvm_calloc(pool, NVM_TYPE_ID(struct holder), 1, sizeof *all->holder);
  all->text = nvm_calloc(pool, NVM_TYPE_ID(struct text), 1, sizeof *all->text);
  all->page = nvm_calloc(pool, NVM_TYPE_ID(struct page), 1, sizeof *all->page);
  if (!strcmp(argv[2], "whole")) {
    all->flexible = nvm_calloc(pool, NVM_TYPE_ID(struct flexible), 1,
                               sizeof *all->flexible + 5 * sizeof(struct item));
    all->classic = nvm_calloc(pool, NVM_TYPE_ID(struct classic), 1,
                              sizeof *all->classic + 5 * sizeof(struct item));
    all->arena = nvm_calloc(pool, NVM_TYPE_ID(struct arena), 1, sizeof *all->arena);
    all->items[1]->next = &all->flexible->items[3];
    all->items[2]->next = &all->classic->items[4];
    all->items[3]->next = (struct item *)&all->arena->bytes[4096];
    all->items[5] = &all->holder->first;
    all->items[6] = &all->holder->second;
    all->items[7] = (struct item *)all->text;
    all->items[0]->next = (struct item *)all->holder;
  } else { // what a program does after it has freed one block and lost sight of two pointers to it
    for (int i = 5; i < 8; i++)
      all->items[i] = (struct item *)all->page;
  }
  return nvm_tx_commit(pool) || nvm_pool_close(pool);
}
