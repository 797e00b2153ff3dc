// The checked build with libnvmove: at the store of a pointer that nobody finds again the process stops and says
// where, in the file, which field, and what it got; unchecked the commit refuses it. What it stored is gone.
// RUN: %cc -O0 --nvmove-checked %s -o %t.0 && %cc -O2 --nvmove-checked %s -o %t.2 && %cc -O1 %s -o %t.plain
// RUN: rm -f %t.pool* && not --crash %t.0 dram %t.pool 2>&1 | FileCheck --check-prefix=DRAM %s
// RUN: not --crash %t.2 dram %t.pool 2>&1 | FileCheck --check-prefix=DRAM %s
// RUN: env NVMOVE_METHOD=shadow not --crash %t.2 dram %t.pool 2>&1 | FileCheck --check-prefix=DRAM %s
// RUN: not --crash %t.0 stack %t.pool 2>&1 | FileCheck --check-prefix=STACK %s
// RUN: not --crash %t.2 other %t.pool 2>&1 | FileCheck --check-prefix=OTHER %s
// RUN: not --crash %t.0 local %t.pool 2>&1 | FileCheck --check-prefix=LOCAL %s
// RUN: %t.0 right %t.pool && %t.2 right %t.pool && %t.plain right %t.pool
// RUN: %t.plain dram %t.pool | FileCheck --check-prefix=PLAIN %s
// RUN: %t.plain other %t.pool | FileCheck --check-prefix=PLAIN %s
// PLAIN: refused: {{.*}}checked-pool.c.tmp.pool: unsafe pointer: field {{text|next}} of the struct node
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
  struct node *next;
  char *text;
  struct node *both[2];
};
typedef void setter(struct node *node, void *value);

// DRAM: nvmove: {{.*}}checked-pool.c.tmp.pool: {{/.*/}}checked-pool.c:[[@LINE+2]]:14: unsafe pointer: struct node.text at 0x7e{{[0-9a-f]+}} gets 0x{{[0-9a-f]+}}, which lies in volatile memory
static void setText(struct node *node, void *value) {
  node->text = value;
}
// OTHER: checked-pool.c:[[@LINE+2]]:14: unsafe pointer: struct node.next at 0x7e{{[0-9a-f]+}} gets 0x7e{{[0-9a-f]+}}, which lies in another pool
static void setNext(struct node *node, void *value) {
  node->next = value;
}
// STACK: checked-pool.c:[[@LINE+2]]:17: unsafe pointer: struct node.both at 0x7e{{[0-9a-f]+}} gets 0x7ff{{[0-9a-f]+}}, which lies in volatile memory
static void setBoth(struct node *node, void *value) {
  node->both[1] = value;
}
// A pointer to a pointer has no field.
// LOCAL: checked-pool.c:[[@LINE+3]]:8: unsafe pointer: a persistent pointer at 0x7e{{[0-9a-f]+}} gets 0x
static void setAny(struct node *node, void *value) {
  void **any = (void **)&node->next;
  *any = value;
}

static setter *const setters[] = {setText, setNext, setBoth, setAny};
static const char *const names[] = {"dram", "other", "stack", "local", "right"};

static NVM_POOL *open(const char *path, struct node **root) {
  NVM_POOL *pool = nvm_pool_open(path);
  if (!pool && !(pool = nvm_pool_create(path, 1 << 20)))
    return NULL;
  *root = nvm_pool_root(pool);
  if (!*root) {
    *root = nvm_calloc(pool, NVM_TYPE_ID(struct node), 1, sizeof **root);
    nvm_pool_set_root(pool, *root);
  }
  return pool;
}

int main(int argc, char **argv) {
  struct node *root, *foreign, local;
  char path[4096];
  snprintf(path, sizeof path, "%s.other", argv[2]);
  NVM_POOL *pool = open(argv[2], &root), *other = open(path, &foreign);
  if (argc != 3 || !pool || !other || root->next || root->text || root->both[1])
    return fprintf(stderr, "%s\n", nvm_strerror()), 3;
  int which = 0;
  while (strcmp(argv[1], names[which]))
    which++;
  void *values[] = {malloc(10), foreign, &local, malloc(10), root};
  setter *volatile set = setters[which % 4];
  nvm_tx_begin(pool);
  if (which == 4) {
    for (int i = 0; i < 4; i++) {
      set = setters[i];
      set(root, root);
      set(root, NULL);
    }
    set = setBoth; // not shown: DRAM may point wherever it likes
    set(&local, values[0]);
  } else {
    set(root, values[which]);
  }
  if (nvm_tx_commit(pool))
    printf("refused: %s\n", nvm_strerror());
  return root->next || root->text || root->both[1] || nvm_pool_close(pool) || nvm_pool_close(other);
}
