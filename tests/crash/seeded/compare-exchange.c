// A lock-free push swaps the head of a list.
// RUN: %seeded %s
#include "seeded.h"

struct stack {
  struct node {
    struct node *next;
    long value;
  } *head;
};

int main(int argc, char **argv) {
  struct stack *s = CREATE(argv, struct stack);
  for (int i = 1; i < 4; i++) {
    nvm_tx_begin(pool);
    struct node *n = nvm_alloc(pool, NVM_TYPE_ID(struct node), sizeof *n);
    n->value = i;
    n->next = s->head;
#ifdef BUG
    __atomic_compare_exchange_n(&s->head, &n->next, n, false, 5, 5); // FOUND: unlogged store
#else
    s->head = n;
#endif
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
