// Record layouts: what the runtime must know of a type, found in the object file.
// RUN: %cc -O1 -c %s -o %t.o && llvm-readelf -SW %t.o | FileCheck --check-prefix=SECTION %s
// SECTION: nvm_types PROGBITS {{.*}} WAGR 
// RUN: %run %s -DRUN --level=-O0 --level=-O2 | FileCheck %s
// RUN: %run %s -DRUN --level=-O2 -flto | FileCheck --check-prefix=LTO %s
// LTO: struct node 48
#include "nvmove/nvmove.h"

// CHECK: struct node 48/8
// CHECK-NEXT: next +0 x1/8 pointer struct node
// CHECK-NEXT: previous +8 x1/8 weak struct node
// CHECK-NEXT: ops +16 x1/8 static struct ops
// CHECK-NEXT: pair.text +24 x1/8 pointer char
// CHECK-NEXT: data +40 x1/8 pointer ?
typedef NVM_STRUCT node {
  NVM_PTR(struct node) next;
  NVM_WEAK_PTR(struct node) previous;
  NVM_STATIC_PTR(const struct ops) ops;
  struct {
    char *text;
    unsigned length : 20;
  } pair;
  void *data;
}
node;

// CHECK: struct ops 16/8
// CHECK-NEXT: call +0 x1/8 function ?
// CHECK-NEXT: handler.one +8 x1/8 function ?
struct ops {
  int (*call)(node *);
  union {
    void (*one)(int);
    void (*two)(long);
  } handler;
};

// CHECK: struct table 360/8
// CHECK-NEXT: buckets +0 x4/8 pointer struct node
// CHECK-NEXT: pairs.key +32 x6/16 pointer char
// CHECK-NEXT: grid.at +128 x6/8 pointer struct node
// CHECK-NEXT: mixed.p +176 x2/32 pointer long
// CHECK-NEXT: mixed.q +192 x2/8 pointer long
// CHECK-NEXT: mixed.q +224 x2/8 pointer long
// CHECK-NEXT: either.pointer +240 x1/8 union ?
// CHECK-NEXT: same.a +248 x1/8 pointer struct node
struct table {
  node *buckets[4];
  struct {
    char *key;
    long value;
  } pairs[6];
  struct {
    node *at[3];
  } grid[2];
  struct {
    long *p, n;
    long *q[2];
  } mixed[2];
  union {
    node *pointer;
    long integer;
  } either;
  union {
    node *a;
    node *b;
  } same;
  double numbers[13];
};

// CHECK: struct blob 16/8
// CHECK-NEXT: parts +16 x0/8 flexible struct node *
struct blob {
  long count;
  int kind;
  node *parts[];
};

// CHECK: struct cached 48/8
// CHECK-NEXT: hits +8 x4/1 volatile ?
// CHECK-NEXT: each.seen +16 x2/16 volatile ?
// CHECK-NEXT: each.at +24 x8/1 volatile ?
// CHECK-NEXT: each.at +40 x8/1 volatile ?
struct cached {
  long kept;
  NVM_VOLATILE int hits;
  struct {
    NVM_VOLATILE char seen;
    NVM_VOLATILE void *at;
  } each[2];
};

#ifdef RUN
#include "nvmove/abi.h"
#include "recorder.h"

#include <stdio.h>
#include <string.h>

extern const struct nvm_type *const __start_nvm_types[], *const __stop_nvm_types[];

static const struct nvm_type *find(uint64_t id) {
  for (const struct nvm_type *const *t = __start_nvm_types; t < __stop_nvm_types; t++)
    if ((*t)->id == id)
      return *t;
  return NULL;
}

static void show(uint64_t id) {
  static const char *const kinds[] = {"?",     "pointer",  "weak",  "union",
                                      "function", "flexible", "static", "volatile"};
  const struct nvm_type *t = find(id);
  printf("%s %ju/%u\n", t->name, (uintmax_t)t->size, t->alignment);
  for (uint32_t i = 0; i < t->field_count; i++) {
    const struct nvm_field *f = &t->fields[i];
    printf("%s +%u x%u/%u %s %s\n", f->name, f->offset, f->count, f->stride, kinds[f->kind],
           f->target ? find(f->target)->name : "?");
  }
}

int main(void) {
  show(NVM_TYPE_ID(node));
  show(NVM_TYPE_ID(struct ops));
  show(NVM_TYPE_ID(struct table));
  show(NVM_TYPE_ID(struct blob));
  show(NVM_TYPE_ID(struct cached));
  int twice = 0;
  for (const struct nvm_type *const *t = __start_nvm_types; t < __stop_nvm_types; t++)
    twice += !strcmp((*t)->name, "struct node");
  // CHECK: once 1
  // CHECK: -O2: struct node 48/8
  printf("once %d\n", twice);
  return !NVM_TYPE_ID(int);
}
#endif
