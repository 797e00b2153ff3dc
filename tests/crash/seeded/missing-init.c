// A field of a new block is never written, and read after the crash: what was there before. (Blocks of up to 256 bytes
// begin as zeros, and larger ones whose type has pointers.)
// RUN: %seeded %s
#include "seeded.h"

struct list {
  struct node {
    long value, used;
    char text[400];
  } *first;
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct list *l = nvm_pool_root(pool);
  return l && l->first && l->first->used > 1;
}
#else
static struct node *node_new(void) {
  return nvm_alloc(pool, NVM_TYPE_ID(struct node), sizeof(struct node));
}

int main(int argc, char **argv) {
  struct list *l = CREATE(argv, struct list);
  nvm_tx_begin(pool);
  struct node *others[8];
  for (int i = 0; i < 8; i++) {
    others[i] = node_new();
    memset(others[i], 0x5a, sizeof *others[i]);
  }
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  for (int i = 0; i < 8; i++)
    nvm_free(others[i]);
  nvm_tx_commit(pool);
  for (int i = 0; i < 300; i++) { // until one of those comes back
    nvm_tx_begin(pool);
    struct node *n = node_new();
    n->value = i;
#ifndef BUG
    n->used = 0;
#endif
    l->first = n;
    nvm_tx_commit(pool); // FOUND: checker
    for (int j = 0; j < 8; j++)
      if (n == others[j])
        return nvm_pool_close(pool);
  }
  return nvm_pool_close(pool);
}
#endif
