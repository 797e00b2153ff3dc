// Fields of what a call returned are filled in: where that is the block which was allocated last, and is noted
// whole, nothing is noted. Anywhere else, and after the commit, each has its note.
// RUN: %ir -O1 %s | FileCheck %s
// RUN: %crash %s -I %source/include | FileCheck --check-prefix=CRASH %s
// CRASH: -O0 undo: {{[1-9][0-9]*}} crashes survived
// CRASH: -O0 shadow: {{[1-9][0-9]*}} crashes survived
// CRASH: -O3 -march=native undo: {{[1-9][0-9]*}} crashes survived
// CRASH: -O3 -march=native shadow: {{[1-9][0-9]*}} crashes survived
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>

enum { TURNS = 6 };
struct node {
  struct node *next;
  int count, again;
  char text[40];
};
static NVM_POOL *pool;

__attribute__((noinline)) static struct node *make(size_t size) {
  return nvm_alloc(pool, NVM_TYPE_ID(struct node), size);
}

__attribute__((noinline)) static struct node *known(struct node *node) {
  __asm__("" : "+r"(node));
  return node;
}

// CHECK-LABEL: define {{.*}}@fill(
// CHECK: call {{.*}}@make
// CHECK: call {{.*}}@__nvmove_note_ahead
// CHECK: {{^[}]}}
__attribute__((noinline)) struct node *fill(struct node *next, int count, size_t length) {
  struct node *n = make(sizeof *n);
  n->next = next;
  n->count = count;
  n->again = count;
  memset(n->text, 'a' + count, length);
  return n;
}

__attribute__((noinline)) void given(struct node *n) {
  n->count++;
  n->again++;
}

static void change(struct node *node, int by) {
  struct node *n = known(node);
  n->count += by;
  n->again += by;
  memset(n->text, 'a' + n->count, 20);
}

// Each node is as a commit left it, and agrees with itself.
static int check(void) {
  int count = 0, wrong = 0;
  for (struct node *n = nvm_pool_root(pool); n; n = n->next, count++) {
    wrong |= n->count != n->again;
    for (int i = 1; i < 20; i++)
      wrong |= n->text[i] != n->text[0];
    wrong |= n->text[0] != 'a' + n->count;
  }
  return wrong || count > TURNS;
}

int main(int argc, char **argv) {
  pool = nvm_pool_open(argv[2]);
  if (!pool && !(pool = nvm_pool_create(argv[2], 1 << 20)))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  if (!strcmp(argv[1], "check"))
    return check();
  struct node *last = NULL;
  for (int i = 0; i < TURNS; i++) {
    nvm_tx_begin(pool);
    struct node *n = fill(last, i, 20);
    change(n, 1);
    if (last) {
      change(last, 2); // not the block that was allocated last
      given(last);
      memset(last->text, 'a' + last->count, 20);
    }
    nvm_pool_set_root(pool, n);
    if (nvm_tx_commit(pool) || check())
      return puts("a commit lost something"), 1;
    nvm_tx_begin(pool);
    int before = n->count;
    change(n, 3); // not in this transaction
    nvm_tx_abort(pool);
    if (check() || n->count != before)
      return puts("an abort left something"), 1;
    nvm_tx_begin(pool);
    change(n, 1);
    nvm_tx_commit(pool);
    last = n;
  }
  return check() || nvm_pool_close(pool);
}
