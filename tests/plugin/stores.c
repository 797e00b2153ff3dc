// Every kind of store, executed at every level: no byte is written before its note.
// RUN: %run %s -w | FileCheck %s
// CHECK-COUNT-5: 0 faults
#include "recorder.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef float vec4 __attribute__((vector_size(16)));
typedef int vec16 __attribute__((vector_size(64)));
struct small {
  char a;
  short b;
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
  p->p = p;
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

int main(void) {
  struct all *p = recorder_map(3 * sizeof *p);
  void (*volatile scalarsp)(struct all *, int) = scalars;
  vec16 w = {1, 2, 3};
  scalarsp(p + 1, 5);
  vectors(p + 1, (vec4){1, 2, 3, 4}, &w);
  copies(p + 1, (struct small){3, 4}, make(3));
  bits(p + 1, 3);
  unaligned(p + 1, 77);
  unions(p + 1, 8);
  special(p + 1, 9);
  memory(p + 1, "a string", 8);
  variable(p + 1, 6);
  return recorder_finish();
}
