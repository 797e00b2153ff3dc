// Every kind of store, executed at every level: no byte is written before its note.
// RUN: %run %s -w | FileCheck %s
// CHECK-COUNT-5: 0 faults
// RUN: %crashes %s -w
// RUN: %crashes %s -w --outside
//
// The same in a pool, with libnvmove and both of its methods: aborted, committed, and killed at each
// append to the log.
// RUN: %crash %s -w -DPOOL | FileCheck --check-prefix=CRASH %s
// CRASH: -O0 undo: {{[1-9][0-9]*}} crashes survived
// CRASH: -O0 shadow: {{[1-9][0-9]*}} crashes survived
// CRASH: -O3 -march=native undo: {{[1-9][0-9]*}} crashes survived
// CRASH: -O3 -march=native shadow: {{[1-9][0-9]*}} crashes survived
#include "nvmove/nvmove.h"
#include "recorder.h"

#include <string.h>

typedef float vec4 __attribute__((vector_size(16)));
typedef int vec16 __attribute__((vector_size(64)));
struct small {
  short a, b;
};
struct large {
  long a[20];
};
struct bits {
  unsigned a : 3, b : 9;
  int c : 20;
  long d : 40;
};
struct __attribute__((packed)) crooked {
  char a;
  long b;
  double c;
};
union either {
  int i;
  double d;
  char text[12];
};
struct all {
  char c;
  short s;
  int i;
  long l;
  float f;
  double d;
  long double ld;
  _Complex double z;
  __int128 wide;
  void *p;
  _Bool b;
  vec4 v;
  vec16 w;
  struct small small[3];
  struct large large[2];
  struct bits bits;
  struct crooked crooked[3];
  union either either;
  volatile int vi;
  _Atomic int ai;
  char text[40];
};

__attribute__((noinline)) void scalars(struct all *p, int n) {
  p->c = (char)n;
  p->s = (short)n;
  p->i = n;
  p->l = n;
  p->f = n;
  p->d = n;
  p->ld = n;
  p->z = n;
  p->wide = n;
  p->p = (void *)64;
  p->b = n;
  p->i += 4;
  p->l--;
}
__attribute__((noinline)) void vectors(struct all *p, vec4 v, vec16 *w) {
  p->v = v;
  p->w = *w + 1;
  p->v[2] = 3;
}
__attribute__((noinline)) struct large make(int n) {
  struct large made;
  for (int i = 0; i < 20; i++)
    made.a[i] = n * i;
  return made;
}
__attribute__((noinline)) void copies(struct all *p, struct small small, struct large large) {
  p->small[0] = small;
  p->small[1] = (struct small){1, 2};
  p->large[0] = large;
  p->large[1] = make(7);
  large.a[3] = 1;
  p->large[0] = p->large[1];
}
__attribute__((noinline)) void bits(struct all *p, int n) {
  p->bits.a = n;
  p->bits.b = n;
  p->bits.c = n;
  p->bits.d = n;
  p->bits.a++;
}
__attribute__((noinline)) void unaligned(struct all *p, int n) {
  p->crooked[1].b = n;
  p->crooked[2].c = n;
  memcpy(p->text + 3, &n, sizeof n);
}
// Undefined, but programs do it: half the value lies in the next line of memory.
__attribute__((noinline)) void misaligned(struct all *p) {
  char *line = (char *)(((size_t)p + 127) & ~(size_t)63);
  *(volatile int *)(line - 4) = 1;
  *(volatile long *)(line - 4) = -2;
}
__attribute__((noinline)) void unions(struct all *p, int n) {
  p->either.i = n;
  p->either.d = 2.5;
  p->either.text[11] = 'x';
}
__attribute__((noinline)) void special(struct all *p, int n) {
  p->vi = n;
  p->vi = n + 1;
  p->ai = n;
}
__attribute__((noinline)) void memory(struct all *p, const char *s, size_t n) {
  memset(p->text, 1, 20);
  memcpy(p->text + 2, s, n);
  memmove(p->text + 1, p->text, 9);
  p->text[n] = 0;
}
__attribute__((noinline)) int variable(struct all *p, int n) {
  int local[n];
  for (int i = 0; i < n; i++)
    local[i] = i;
  memcpy(p->text, local, (size_t)n * sizeof *local);
  return local[n - 1];
}

static void all(struct all *p) {
  void (*volatile scalarsp)(struct all *, int) = scalars;
  vec16 w = {1, 2, 3};
  misaligned(p); // before any other note of that line
  scalarsp(p, 5);
  vectors(p, (vec4){1, 2, 3, 4}, &w);
  copies(p, (struct small){3, 4}, make(3));
  bits(p, 3);
  unaligned(p, 77);
  unions(p, 8);
  special(p, 9);
  memory(p, "a string", 8);
  variable(p, 6);
}

#ifndef POOL
int main(void) {
  struct all *p = recorder_map(3 * sizeof *p);
  all(p + 1);
  return recorder_finish();
}
#else
#include <stdio.h>

// "work" POOL: aborts, then commits. "check" POOL: the pool holds what was before or after the commit.
int main(int argc, char **argv) {
  static struct all before[3], after[3];
  memset(before, 1, sizeof before);
  memset(after, 1, sizeof after);
  all(after + 1);
  NVM_POOL *pool = nvm_pool_open(argv[2]);
  if (!pool && !(pool = nvm_pool_create(argv[2], 1 << 20)))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  struct all *p = nvm_pool_root(pool);
  if (!strcmp(argv[1], "check"))
    return p && memcmp(p, before, sizeof before) && memcmp(p, after, sizeof after);
  nvm_tx_begin(pool);
  p = nvm_alloc(pool, 0, sizeof before); // untyped: what it holds for pointers are none
  memcpy(p, before, sizeof before);
  nvm_pool_set_root(pool, p);
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  all(p + 1);
  nvm_tx_abort(pool);
  if (memcmp(p, before, sizeof before))
    return puts("the abort left something"), 1;
  nvm_tx_begin(pool);
  all(p + 1);
  if (nvm_tx_commit(pool) || memcmp(p, after, sizeof after))
    return puts("the commit lost something"), 1;
  return nvm_pool_close(pool);
}
#endif
