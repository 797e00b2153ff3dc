// What is in a pool, told without the program.
// RUN: %cc %s -o %t && env NVMOVE_METHOD=undo %t %pool
// RUN: %nvmove pool info %pool | FileCheck --check-prefix=INFO %s
// INFO: objects.c.pool
// INFO: method undo, domain process (last opening)
// INFO: openings 1, closed 1, recovered 0
// INFO: allocated 6 blocks
// INFO: root @0x
// INFO: static places 1
// INFO-NEXT: references    not counted
// INFO-NEXT: types
// INFO-NEXT: 1 blocks {{ *}}112 bytes char
// INFO-NEXT: 1 blocks {{ *}}48 bytes struct list
// INFO-NEXT: 3 blocks {{ *}}288 bytes struct node
// INFO-NEXT: 1 blocks {{ *}}32 bytes untyped
// RUN: %nvmove pool info --format=json %pool -o %t.json && %python -m json.tool %t.json | FileCheck --check-prefix=JSON %s
// JSON: "allocated_blocks": 6
// JSON: "schema_version": 1
// JSON: "type": "struct node"

// RUN: %nvmove pool dump %pool | FileCheck --check-prefix=DUMP %s
// DUMP: @0x{{.*}} struct node, 96 bytes
// DUMP-NEXT: next: null
// DUMP-NEXT: name: "node 0"
// DUMP-NEXT: value: 0
// DUMP-NEXT: kind: 0
// DUMP-NEXT: small: -1
// DUMP-NEXT: ratio: 0
// DUMP-NEXT: pairs: [{"key":0,"to":null},{"key":7,"to":"@0x
// DUMP-NEXT: on: false
// DUMP-NEXT: call: "0x
// DUMP: @0x[[SECOND:.*]] struct node, 96 bytes, not reachable
// DUMP: @0x{{.*}} struct node, 96 bytes
// DUMP: value: -2
// DUMP-NEXT: kind: 2
// DUMP-NEXT: small: -3
// DUMP-NEXT: ratio: 3
// DUMP: on: true
// RUN: %nvmove pool dump %pool | FileCheck --check-prefix=REST %s
// REST-DAG: text: "plain text"
// REST-DAG: bytes: "00000000002a
// REST-DAG: items: [{"id":1,"node":"@0x
// RUN: %nvmove pool dump --type 'struct list' --format=json %pool | %python -m json.tool | FileCheck --check-prefix=ONE %s
// ONE: "type": "struct list"
// ONE-NOT: struct node
// RUN: %exit 2 %nvmove pool dump --type node %pool 2>&1 | FileCheck --check-prefix=NOTYPE %s
// NOTYPE: error: the pool has no type 'node'; did you mean 'struct node'
// RUN: %nvmove pool dump --format=graph %pool | FileCheck --check-prefix=GRAPH %s
// GRAPH: digraph pool {
// GRAPH: "@0x[[LIST:[0-9a-f]+]]" [label="struct list
// GRAPH: label="struct node\n@0x{{[0-9a-f]+}}", style=dashed
// GRAPH: "@0x[[LIST]]" -> "@0x{{.*}}" [label="node"]

// RUN: %nvmove pool check %pool | FileCheck --check-prefix=SOUND %s
// SOUND: no faults
// RUN: %exit 1 %nvmove pool leaks %pool | FileCheck --check-prefix=LEAKS %s
// LEAKS: 1 blocks {{ *}}96 bytes struct node
// LEAKS-NOT: blocks
// RUN: %nvmove pool gc %pool | FileCheck --check-prefix=GC %s
// GC: freed 1 blocks, 96 bytes; 5 blocks, 384 bytes stay
// RUN: %nvmove pool leaks %pool | FileCheck --check-prefix=NONE %s
// NONE: the root leads to every block
// RUN: %t %pool again
#include "nvmove/nvmove.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef NVM_STRUCT node {
  struct node *next;
  char name[20];
  int value;
  unsigned kind : 3;
  int small : 4;
  float ratio;
  struct {
    short key;
    struct node *to;
  } pairs[2];
  bool on;
  int (*call)(const char *);
}
node;

typedef NVM_STRUCT list {
  node *first;
  char *text;
  void *raw;
  long count;
  struct {
    int id;
    node *node;
  } items[];
}
list;

static int again(const char *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  if (!pool)
    return printf("%s\n", nvm_strerror()), 1;
  const list *all = nvm_pool_root(pool);
  return all->first->call("again") != 2 || nvm_pool_close(pool) != 0;
}

int puts_nothing(const char *text) { return text[0] == 'a' ? 2 : 3; }

int main(int argc, char **argv) {
  if (argc > 2)
    return again(argv[1]);
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  list *all = nvm_calloc(pool, NVM_TYPE_ID(list), 1, sizeof *all + sizeof all->items[0]);
  all->text = nvm_calloc(pool, NVM_TYPE_ID(char), 1, 100);
  all->raw = nvm_calloc(pool, 0, 1, 32);
  strcpy(all->text, "plain text");
  ((char *)all->raw)[5] = 42;
  for (int i = 0; i < 3; i++) {
    node *made = nvm_calloc(pool, NVM_TYPE_ID(node), 1, sizeof *made);
    snprintf(made->name, sizeof made->name, "node %d", i);
    made->value = -i;
    made->kind = (unsigned)i;
    made->small = -i - 1;
    made->ratio = (float)i * 1.5f;
    made->pairs[1].key = 7;
    made->pairs[1].to = made;
    made->on = i == 2;
    made->call = puts_nothing;
    if (i == 1)
      continue;
    made->next = all->first;
    all->first = made;
  }
  all->items[0].id = 1;
  all->items[0].node = all->first;
  nvm_pool_set_root(pool, all);
  return nvm_tx_commit(pool) || nvm_pool_close(pool);
}
