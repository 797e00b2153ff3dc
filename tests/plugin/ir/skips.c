// Each reason to need no note, and that it is counted.
// RUN: %ir -O1 %s 2>/dev/null | FileCheck %s
// RUN: %cc -O1 -c --nvmove-remarks %s -o /dev/null 2>&1 | FileCheck --check-prefix=COUNT %s
// COUNT-DAG: remark: write skipped: stack [-Rpass-missed=nvmove]
// COUNT-DAG: remark: write skipped: global variable [-Rpass-missed=nvmove]
// COUNT-DAG: remark: write skipped: volatile heap [-Rpass-missed=nvmove]
// COUNT-DAG: remark: write skipped: volatile field [-Rpass-missed=nvmove]
// COUNT-DAG: remark: write skipped: already noted [-Rpass-missed=nvmove]
// COUNT-DAG: remark: write skipped: other address space [-Rpass-missed=nvmove]
// COUNT: nvmove: {{.*}}skips.c: {{[0-9]+}} writes: {{[0-9]+}} noted ({{.*}} noted), {{[0-9]+}} skipped ({{.*}})
#include "nvmove/nvmove.h"

#include <stdlib.h>

void use(void *);

// CHECK-LABEL: define {{.*}}@stack(
// CHECK-NOT: @__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
void stack(int n) {
  int local[8];
  local[n] = 1;
  use(local);
}

int shared[10];
_Thread_local int own;
extern int elsewhere[];
// CHECK-LABEL: define {{.*}}@global(
// CHECK-NOT: @__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
void global(int n) { shared[n] = own = elsewhere[2] = 3; }

// CHECK-LABEL: define {{.*}}@heap(
// CHECK-NOT: @__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
int *heap(int n) {
  int *p = malloc(40), *q = calloc(4, 4);
  p[n] = 1;
  use(p);
  p[n + 1] = 2;
  q[1] = 2;
  use(q);
  return p;
}

// realloc of pool memory gives pool memory.
// CHECK-LABEL: define {{.*}}@grown(
// CHECK: @__nvmove_note_4(
int *grown(int *p) {
  p = realloc(p, 80);
  p[11] = 1;
  return p;
}

struct cached {
  int value;
  NVM_VOLATILE int hits;
  NVM_VOLATILE int history[4];
  int tail;
};
// CHECK-LABEL: define {{.*}}@volatileField(
// CHECK-NOT: @__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
void volatileField(struct cached *p, int n) {
  p->hits++;
  p->history[n] = 1;
}
// What begins at a volatile field and goes on behind it is noted; so is what is reached from it.
// CHECK-LABEL: define {{.*}}@volatileFieldAndMore(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: call {{.*}}@llvm.memset
void volatileFieldAndMore(struct cached *p) { __builtin_memset(&p->hits, 0, 24); }
// CHECK-LABEL: define {{.*}}@volatileFieldOfUnknownLength(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: call {{.*}}@llvm.memset
void volatileFieldOfUnknownLength(struct cached *p, unsigned long n) {
  __builtin_memset(p->history, 0, n);
}
// CHECK-LABEL: define {{.*}}@volatileFieldWhole(
// CHECK-NOT: @__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
void volatileFieldWhole(struct cached *p) { __builtin_memset(p->history, 0, sizeof p->history); }
// CHECK-LABEL: define {{.*}}@wordOfVolatileFieldAndNext(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
void wordOfVolatileFieldAndNext(struct cached *p, long both) {
  __builtin_memcpy(&p->history[3], &both, sizeof both);
  *(volatile long *)&p->history[3] = both;
}
// CHECK-LABEL: define {{.*}}@besideVolatileField(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
void besideVolatileField(struct cached *p, int n) { (&p->hits)[n] = 1; }
// What a union's other members share is theirs, too: the optimizer makes one store of both.
union both {
  NVM_VOLATILE long whole;
  int half[2];
};
struct united {
  union both both;
};
// CHECK-LABEL: define {{.*}}@unitedVolatileField(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
void unitedVolatileField(struct united *p) {
  p->both.whole = 0;
  p->both.half[1] = 5;
}
// A field that is a union is volatile as a whole.
struct holds_union {
  long value;
  NVM_VOLATILE union {
    long whole;
    int half[2];
  } named;
  NVM_VOLATILE union {
    long one;
    double other;
  };
  long last;
};
// CHECK-LABEL: define {{.*}}@volatileUnion(
// CHECK-NOT: @__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
void volatileUnion(struct holds_union *p) {
  p->named.whole = 1;
  p->named.half[1] = 2;
  p->one = 3;
  p->other = 4;
}
// CHECK-LABEL: define {{.*}}@behindVolatileUnion(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
void behindVolatileUnion(struct holds_union *p) {
  __builtin_memset(&p->named, 0, sizeof p->named + sizeof p->one + sizeof p->last);
}
// CHECK-LABEL: define {{.*}}@containerOfVolatileField(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
void containerOfVolatileField(struct cached *p) {
  ((struct cached *)((char *)&p->hits - __builtin_offsetof(struct cached, hits)))->value = 1;
}
// CHECK-LABEL: define {{.*}}@ordinaryField(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
void ordinaryField(struct cached *p) { p->value++; }

// CHECK-LABEL: define {{.*}}@covered(
// CHECK-COUNT-1: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
void covered(volatile long *p) {
  *p = 1;
  *p = 2;
  *(volatile int *)p = 3;
}

// A new block of a pool is noted: what a commit makes durable is what was noted.
// CHECK-LABEL: define {{.*}}@fresh(
// CHECK: call {{.*}}@nvm_alloc
// CHECK: call {{.*}}@__nvmove_note_8(
long *fresh(NVM_POOL *pool) {
  long *p = nvm_alloc(pool, NVM_TYPE_ID(long), 64);
  p[3] = 2;
  return p;
}

// No allocation commits.
// CHECK-LABEL: define {{.*}}@allocation(
// CHECK-COUNT-1: call {{.*}}@__nvmove_note_8(
// CHECK-NOT: call {{.*}}@__nvmove_note_8(
// CHECK: {{^[}]}}
void allocation(NVM_POOL *pool, void *volatile *p) {
  *p = 0;
  *p = nvm_alloc(pool, NVM_TYPE_ID(long), 64);
}

// A null pointer leads nowhere, unless the program says that it does.
// RUN: %ir -O1 -fno-delete-null-pointer-checks %s 2>/dev/null | FileCheck --check-prefix=DEFINED %s
// DEFINED-LABEL: define {{.*}}@fromNull(
// DEFINED: call {{.*}}@__nvm{{(ove)?}}_note
void fromNull(unsigned long n) {
  int *none = 0;
  none[n] = 1;
}

// CHECK-LABEL: define {{.*}}@segment(
// CHECK-NOT: @__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
void segment(int __attribute__((address_space(256))) * p) { *p = 1; }
