/* linked-list: strings at the head of a list (Breeze, Fig. 3), printed at the end.
 *
 * usage: linked-list COUNT POOL
 */
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef NVM_STRUCT Node {
  NVM_PTR(struct Node) next;
  char data[32];
}
Node;

static size_t length(const Node *head) {
  size_t count = 0;
  for (; head; head = head->next)
    count += !strcmp(head->data, "Hello world");
  return count;
}

int main(int argc, char **argv) {
  size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
  NVM_POOL *pool = nvm_pool_open(argv[2]);
  if (!pool && !(pool = nvm_pool_create(argv[2], 1 << 20)))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  Node *head = nvm_pool_root(pool);
  for (size_t i = length(head); i < count; i++) {
    nvm_tx_begin(pool);
    Node *t = nvm_alloc(pool, NVM_TYPE_ID(Node), sizeof(Node));
    if (t == NULL) {
      nvm_tx_abort(pool);
      break;
    }
    t->next = head;
    strcpy(t->data, "Hello world");
    head = t;
    nvm_pool_set_root(pool, head);
    nvm_tx_commit(pool);
    printf("%zu\n", i + 1);
    fflush(stdout);
  }
  printf("%zu nodes say hello\n", length(head));
  return nvm_pool_close(pool);
}
