// A pointer to a freed block is found, also where the block before that is allocated; the end of an array is none.
// RUN: %cc %s -o %t
// RUN: %t %pool 6 7 8 && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=THREE %s
// THREE-COUNT-3: field nodes of struct table at 0x{{.*}} leads to 0x{{.*}}, where nothing is allocated
// THREE: 3 faults
// RUN: %t %pool 7 && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=ONE %s
// ONE: field nodes of struct table at
// ONE: 1 fault
// RUN: %t %pool list 7 && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=LIST %s
// LIST: field next of struct node at
// LIST: 1 fault
// RUN: %t %pool tree 7 && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=TREE %s
// TREE: field right of struct node at
// TREE: 1 fault
// Where no whole elements lie between the two pointers, none is an end.
// RUN: %t %pool queue && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=QUEUE %s
// QUEUE: field tail of struct queue at
// QUEUE: 1 fault
// Begin, end and limit of arrays that fill their blocks, whatever lies behind; and an end alone.
// RUN: %t %pool vector && %nvmove pool check %pool
#include "nvmove/nvmove.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
  struct node *next, *left, *right;
  long number[5];
};
struct item {
  long number[8];
};
struct table {
  struct node *nodes[40];
};
struct vector {
  struct item *begin, *end, *limit;
};
struct cursor {
  struct item *end; // of several, kept alone
  char *text;
  long count;
};
struct message {
  long number[5]; // less than its block has
};
struct queue {
  struct message *head, *tail;
};
struct all {
  struct table *table;
  struct node *first;
  struct vector *one, *many;
  struct cursor *cursor;
  struct queue *queue;
};
_Static_assert(sizeof(struct node) == 64 && sizeof(struct item) == 64, "they fill their blocks");

static NVM_POOL *pool;
static struct item *items(long count) {
  return nvm_calloc(pool, NVM_TYPE_ID(struct item), count, 64);
}

static struct vector *vector(long count) {
  struct vector *made = nvm_alloc(pool, NVM_TYPE_ID(struct vector), sizeof *made);
  made->begin = items(count);
  made->end = made->limit = made->begin + count;
  return made;
}

static struct message *message(void) {
  return nvm_calloc(pool, NVM_TYPE_ID(struct message), 1, sizeof(struct message));
}

static int drop_last(struct all *all) {
  struct queue *queue = nvm_calloc(pool, NVM_TYPE_ID(struct queue), 1, sizeof *queue);
  all->queue = queue;
  queue->head = message();
  queue->tail = message();
  if ((char *)queue->tail - (char *)queue->head != (long)nvm_usable_size(queue->head))
    return 3; // the test wants neighbours
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  nvm_free(queue->tail);
  return nvm_tx_commit(pool) || nvm_pool_close(pool);
}

int main(int argc, char **argv) {
  unlink(argv[1]);
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  struct all *all = nvm_calloc(pool, NVM_TYPE_ID(struct all), 1, sizeof *all);
  nvm_pool_set_root(pool, all);
  if (!strcmp(argv[2], "vector")) {
    all->one = vector(1);
    all->cursor = nvm_calloc(pool, NVM_TYPE_ID(struct cursor), 1, sizeof *all->cursor);
    all->many = vector(2);
    all->cursor->end = all->many->end;
    all->cursor->text = (char *)nvm_alloc(pool, NVM_TYPE_ID(char), 64) + 64;
    return nvm_tx_commit(pool) || nvm_pool_close(pool);
  }
  if (!strcmp(argv[2], "queue"))
    return drop_last(all);
  struct table *nodes = nvm_calloc(pool, NVM_TYPE_ID(struct table), 1, sizeof *nodes);
  for (int i = 0; i < 40; i++)
    nodes->nodes[i] = nvm_calloc(pool, NVM_TYPE_ID(struct node), 1, sizeof(struct node));
  for (int i = 1; i < 40; i++)
    if (nodes->nodes[i] - nodes->nodes[i - 1] != 1)
      return 3; // the test wants neighbours
  int is_list = !strcmp(argv[2], "list"), is_tree = !strcmp(argv[2], "tree");
  all->first = nodes->nodes[0];
  for (int i = 0; is_list && i < 39; i++)
    nodes->nodes[i]->next = nodes->nodes[i + 1];
  if (is_tree) {
    nodes->nodes[0]->left = nodes->nodes[6];
    nodes->nodes[0]->right = nodes->nodes[7];
  }
  all->table = is_list || is_tree ? NULL : nodes;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  for (int i = 2 + is_list + is_tree; i < argc; i++)
    nvm_free(nodes->nodes[atoi(argv[i])]);
  if (!all->table)
    nvm_free(nodes);
  return nvm_tx_commit(pool) || nvm_pool_close(pool);
}
