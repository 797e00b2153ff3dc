// `nvmove pool convert`: the pool of a program whose types have changed, for the program as it is now.
// RUN: %cc -DOLD %s -o %t.old && %cc -O2 %s -o %t.new && rm -f %pool %pool.*
// RUN: split-file %S/Inputs/convert.yaml %t.maps
// RUN: %t.old %pool && %exit 2 %t.new %pool 2>&1 | FileCheck --check-prefix=HINT %s
// HINT: field first is pointer of 8 bytes at 0 there, pointer of 8 bytes at 8 here; convert it ('nvmove pool convert')
// RUN: cp %pool %t.before && %exit 2 %nvmove pool convert %pool %pool.n --layouts %t.new 2>&1 | FileCheck --check-prefix=ASKS %s
// ASKS: error: struct item: field count is only in the pool's ('drop' gives it up, 'was' renames it); field gone is only
// RUN: %exit 2 %nvmove pool convert %pool %pool.n --layouts %t.new --map %t.maps/unknown 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: error: struct item: field cuont (of total) is not in the pool's
// RUN: %exit 2 %nvmove pool convert %pool %pool.n --layouts %t.new --map %t.maps/wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: unknown key 'drops'
// RUN: %exit 2 %nvmove pool convert %pool %pool.n --layouts %t.new --map %t.maps/narrow 2>&1 | FileCheck --check-prefix=NARROW %s
// NARROW: struct item at @0x{{.*}}: field code: 300 does not fit ('cut' in the map gives up what does not)
// RUN: not ls %pool.n
// RUN: %nvmove pool convert %pool %pool.n --layouts %t.new --map %t.maps/good | FileCheck --check-prefix=DONE %s
// DONE: struct item: field mode is new, and 7
// DONE: struct item: field gone is given up
// DONE: 8 blocks, 6 of types that changed, 17 pointers
// RUN: cmp %pool %t.before && %t.new %pool.n | FileCheck %s && %nvmove pool check %pool.n && %t.new %pool.n
// CHECK: n 5 inside 4 last item 0 same -5
// CHECK-NEXT: item 4 total 2 small -4 mode 7 fresh 0 pair 4 item 4 text constant text bits 3 ratio 0.5 code 44
// CHECK-NEXT: hello
// CHECK: item 0 total -2 small 0 mode 7
// CHECK: tail 10 item 0
// CHECK: tail 12 item 2
// The layouts of a pool that the new program made, as well; no half file stays; a pool that fits is copied.
// RUN: %t.new %pool.m make && rm %pool.n && %exit 2 %nvmove pool convert %pool %pool.n --layouts %pool.m --map %t.maps/good 2>&1 | FileCheck --check-prefix=EITHER %s
// EITHER: field inside of struct list at {{.*}} leads to where several things begin or end that lie apart now; which is meant, only the program itself can say
// RUN: cp %pool %t.inside && %t.old %pool plain && %nvmove pool convert %pool %pool.n --layouts %pool.m --map %t.maps/good --format=json | %python -m json.tool | FileCheck --check-prefix=JSON %s
// JSON: "blocks_changed": 6
// RUN: cp %t.inside %pool && %t.new %pool.n | FileCheck --check-prefix=PLAIN %s && ls %pool.* | FileCheck --check-prefix=FILES %s
// FILES: .m
// FILES-NEXT: .n
// FILES-NOT: .new
// PLAIN: n 5 inside 0 last item 0 same -5
// RUN: %nvmove pool convert %pool.n %pool.o --layouts %t.new && %t.new %pool.o | FileCheck --check-prefix=PLAIN %s
// RUN: rm %pool.o && %nvmove pool convert %pool.n %pool.o --size 32M && %nvmove pool info %pool.o | FileCheck --check-prefix=SIZE %s
// SIZE: size 340{{[0-9]+}} bytes, may grow to 1073741824
// RUN: %t.new %pool.o | FileCheck --check-prefix=PLAIN %s
// RUN: %exit 2 %nvmove pool convert %pool %pool.n --layouts %t.new 2>&1 | FileCheck --check-prefix=EXISTS %s
// EXISTS: the file exists
// RUN: %exit 2 %nvmove pool convert %pool %pool.p --layouts /bin/true 2>&1 | FileCheck --check-prefix=FOREIGN %s
// FOREIGN: error: /bin/true: it describes no types; was it linked by nvmove-cc?
// RUN: %exit 2 %nvmove pool convert %pool %pool.p --layouts %s 2>&1 | FileCheck --check-prefix=TEXT %s
// TEXT: convert.c: neither a pool nor a linked program
// Words that nobody decides.
// RUN: %t.old %pool union && %exit 2 %nvmove pool convert %pool %pool.p --layouts %t.new --map %t.maps/good 2>&1 | FileCheck --check-prefix=UNION %s
// UNION: may be a pointer or a number ('undecided: pointers' or 'numbers' in the map decides
// RUN: %nvmove pool convert %pool %pool.p --layouts %t.new --map %t.maps/pointers && %t.new %pool.p | FileCheck --check-prefix=DECIDED %s
// DECIDED: same -5 to item 4
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef OLD
typedef NVM_STRUCT pair {
  int key;
  struct item *to;
}
pair;
typedef NVM_STRUCT item {
  struct item *next;
  int count;
  short small, code;
  char name[12];
  pair pairs[2];
  int gone;
  unsigned bits : 3;
  float ratio;
  const char *text;
  void (*call)(void);
}
item;
typedef NVM_STRUCT list {
  item *first, *last;
  int *inside;
  long n;
  union {
    item *it;
    long number;
  } u;
  struct same *same;
  pair tail[];
}
list;
#else
typedef NVM_STRUCT pair {
  struct item *to;
  long key;
}
pair;
typedef NVM_STRUCT item {
  int mode;
  long total;
  struct item *next;
  pair pairs[3];
  char name[20];
  long small;
  double ratio, fresh;
  unsigned char code;
  unsigned long bits : 9;
  void (*call)(void);
  const char *text;
}
item;
typedef NVM_STRUCT list {
  long n;
  item *first;
  long *inside;
  item *last;
  long extra;
  struct same *same;
  union {
    item *it;
    long number;
  } u;
  pair tail[];
}
list;
#endif
typedef NVM_STRUCT same {
  int value;
  item *of;
}
same;

static void hello(void) { puts("hello"); }

static list *make(NVM_POOL *pool, int count) {
  list *l = nvm_calloc(pool, NVM_TYPE_ID(list), 1, sizeof *l + 3 * sizeof(pair));
  for (int i = 0; i < count; i++) {
    item *made = nvm_calloc(pool, NVM_TYPE_ID(item), 1, sizeof *made);
    made->next = l->first;
    l->first = made;
    l->last = l->last ? l->last : made;
    made->small = -i;
    made->code = i < 3 ? i : 300;
    made->bits = 3;
    made->ratio = 0.5;
    snprintf(made->name, sizeof made->name, "item %d", i);
    made->pairs[1].key = i;
    made->pairs[1].to = made;
    made->text = "constant text";
    made->call = hello;
    l->inside = &made->pairs[1].key;
    if (i < 3) {
      l->tail[i].key = 10 + i;
      l->tail[i].to = made;
    }
#ifdef OLD
    made->count = i - 2;
    made->gone = 9;
#endif
  }
  l->n = count;
  l->same = nvm_calloc(pool, NVM_TYPE_ID(same), 1, sizeof *l->same);
  l->same->value = -5;
  l->same->of = l->first;
  strcpy(nvm_calloc(pool, NVM_TYPE_ID(char), 1, 20), "text");
  return l;
}

int main(int argc, char **argv) {
#ifdef OLD
  unlink(argv[1]);
#endif
  NVM_POOL *pool =
      access(argv[1], F_OK) ? nvm_pool_create(argv[1], 1 << 20) : nvm_pool_open(argv[1]);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  list *l = nvm_pool_root(pool);
  if (!l) {
    nvm_tx_begin(pool);
    l = make(pool, 5);
    nvm_pool_set_root(pool, l);
    if (argc > 2 && strcmp(argv[2], "union") == 0)
      l->u.it = l->first;
    if (argc > 2 && strcmp(argv[2], "plain") == 0)
      l->inside = NULL;
    nvm_tx_commit(pool);
    return nvm_pool_close(pool);
  }
#ifndef OLD
  printf("n %ld inside %ld last %s same %d to %s\n", l->n, l->inside ? *l->inside : 0,
         l->last->name, l->same->value, l->u.it ? l->u.it->name : "nothing");
  for (item *i = l->first; i; i = i->next) {
    printf("%s total %ld small %ld mode %d fresh %g pair %ld %s text %s bits %d ratio %g code %d\n",
           i->name, i->total, i->small, i->mode, i->fresh, i->pairs[1].key, i->pairs[1].to->name,
           i->text, (int)i->bits, i->ratio, i->code);
    i->call();
  }
  for (int i = 0; i < 3; i++)
    printf("tail %ld %s\n", l->tail[i].key, l->tail[i].to->name);
#endif
  return nvm_pool_close(pool);
}
