// The number of elements is kept by code that the transaction does not enclose.
// RUN: %seeded %s
#include "seeded.h"

struct list {
  long count;
  struct node {
    long value;
    struct node *next;
  } *first;
};

NVM_ATOMIC static void push(struct list *l, long value) {
  struct node *n = nvm_alloc(pool, NVM_TYPE_ID(struct node), sizeof *n);
  n->value = value;
  n->next = l->first;
  l->first = n;
#ifndef BUG
  l->count++;
#endif
}

int main(int argc, char **argv) {
  struct list *l = CREATE(argv, struct list);
  for (long i = 0; i < 4; i++) {
    push(l, i);
#ifdef BUG
    l->count++; // FOUND: write outside a transaction
#endif
  }
  return nvm_pool_close(pool);
}
