// Stores of odd shapes: bit-fields, unions, copies of structures, vectors, and arrays whose length is known at run
// time. What is noted in each, and that it is all that is written, after each kill, too.
// RUN: %ir -O1 %s | FileCheck %s
// RUN: %ir -O0 %s | FileCheck --check-prefix=O0 %s
// RUN: %run %s -DRUN > %t.run
// RUN: FileCheck --check-prefix=EXE %s --input-file=%t.run
// EXE-COUNT-5: 0 faults
// RUN: not grep "noted.*wrote" %t.run
// RUN: %crashes %s -DRUN --level=-O0 --level=-O2
#include "recorder.h"

#include <stdio.h>
#include <string.h>

typedef float four __attribute__((vector_size(16)));
typedef long eight __attribute__((vector_size(64)));
struct bits {
  unsigned a : 3, b : 9;
  long wide : 60;
};
struct large {
  long a[20];
};
struct small {
  int a;
  char b;
};
union either {
  int number;
  double real;
  struct small small;
  char text[24];
};
struct all {
  struct bits bits;
  union either either;
  struct large large[2];
  struct small small[2];
  four four;
  eight eight;
  long table[4][6];
};

// The whole unit that the field lies in is stored, and noted.
// CHECK-LABEL: define {{.*}}@bits(
// CHECK: call {{.*}}@__nvmove_note_ahead_2(ptr nest %p)
// CHECK: call {{.*}}@__nvmove_note_ahead_8(ptr nest %{{.*}})
// CHECK: store i16
// CHECK: store i64
// CHECK: {{^[}]}}
__attribute__((noinline)) void bits(struct bits *p, int n) {
  p->b = n;
  p->wide = n;
}

// Each member is as long as it is: the union is longer.
// CHECK-LABEL: define {{.*}}@unions(
// CHECK: call {{.*}}@__nvmove_note_4(ptr nest %p)
// CHECK: store i32
// CHECK: {{^[}]}}
__attribute__((noinline)) void unions(union either *p, int n) { p->number = n; }
// CHECK-LABEL: define {{.*}}@wholeUnion(
// CHECK: call {{.*}}@__nvmove_note_24(ptr nest %p)
// CHECK: call void @llvm.memcpy
// CHECK: {{^[}]}}
__attribute__((noinline)) void wholeUnion(union either *p, const union either *from) { *p = *from; }

// A copy is noted whole, whatever it becomes.
// CHECK-LABEL: define {{.*}}@copy(
// CHECK: call {{.*}}@__nvmove_note(ptr nest %p, i64 160)
// CHECK: call void @llvm.memcpy{{.*}}(ptr {{.*}}%p, ptr {{.*}}%from, i64 160
// CHECK: {{^[}]}}
__attribute__((noinline)) void copy(struct large *p, const struct large *from) { *p = *from; }
// A structure that comes by value, and one that a call returns to where it is wanted.
// CHECK-LABEL: define {{.*}}@byValue(ptr {{.*}}%p, ptr {{.*}}byval(%struct.large) {{.*}}%from
// CHECK: call {{.*}}@__nvmove_note(ptr nest %p, i64 160)
// CHECK: call void @llvm.memcpy
// CHECK: {{^[}]}}
__attribute__((noinline)) void byValue(struct large *p, struct large from) { *p = from; }
// CHECK-LABEL: define {{.*}}@made(ptr {{.*}}sret(%struct.large) {{.*}}%agg.result
// CHECK: call {{.*}}@__nvmove_note(ptr nest %agg.result, i64 160)
// CHECK: store
// CHECK: {{^[}]}}
__attribute__((noinline)) struct large made(int n) {
  struct large to;
  for (int i = 0; i < 20; i++)
    to.a[i] = n * i;
  return to;
}
// CHECK-LABEL: define {{.*}}@returned(
// CHECK: call void @made(
// CHECK: call {{.*}}@__nvmove_note(ptr nest %p, i64 160)
// CHECK: call void @llvm.memcpy
// CHECK: {{^[}]}}
__attribute__((noinline)) void returned(struct large *p, int n) { *p = made(n); }
// CHECK-LABEL: define {{.*}}@smallCopy(
// CHECK: call {{.*}}@__nvmove_note_8(ptr nest %p)
// CHECK: store i64
// CHECK: {{^[}]}}
__attribute__((noinline)) void smallCopy(struct small *p, struct small from) { *p = from; }

// One element of a vector is a store of its own, or of all at -O0.
// CHECK-LABEL: define {{.*}}@vectors(
// CHECK: %[[ELEMENT:.*]] = getelementptr inbounds i8, ptr %p, i64 8
// CHECK: call {{.*}}@__nvmove_note_ahead_4(ptr nest %{{.*}})
// CHECK: call {{.*}}@__nvmove_note_ahead_64(ptr nest %q)
// CHECK: store float {{.*}}, ptr %[[ELEMENT]]
// CHECK: store <8 x i64>
// CHECK: {{^[}]}}
// O0-LABEL: define {{.*}}@vectors(
// O0: call {{.*}}@__nvmove_note_16(
// O0: store <4 x float>
// O0: {{^[}]}}
__attribute__((noinline)) void vectors(four *p, eight *q, const eight *from) {
  (*p)[2] = 3;
  *q = *from * 3;
}

// A type whose size the run knows, laid over the pool.
// CHECK-LABEL: define {{.*}}@variable(
// CHECK: call {{.*}}@__nvmove_note_8(ptr nest %{{.*}})
// CHECK: store i64 %value, ptr %
// CHECK: {{^[}]}}
__attribute__((noinline)) void variable(int n, long (*table)[n], int row, long value) { table[row][n - 1] = value; }
// CHECK-LABEL: define {{.*}}@variableCopy(
// CHECK: call preserve_mostcc void @__nvmove_note(ptr nest %{{.*}}, i64 %{{.*}})
// CHECK: call void @llvm.memcpy
// CHECK: {{^[}]}}
__attribute__((noinline)) void variableCopy(int n, long (*table)[n], int row) {
  long local[n];
  for (int i = 0; i < n; i++)
    local[i] = row * 10 + i;
  memcpy(table[row], local, sizeof local);
}

#ifdef RUN
static void expect(size_t bytes, const char *what) {
  if (recorder_bytes() != bytes)
    printf("%s: noted %zu bytes, wrote %zu\n", what, recorder_bytes(), bytes);
  recorder_commit();
}

int main(void) {
  struct all *p = recorder_map(sizeof *p);
  union either either = {.text = "text of the union"};
  eight values = {1, 2, 3, 4};
  bits(&p->bits, 77);
  expect(2 + 8, "bits");
  wholeUnion(&p->either, &either);
  expect(24, "union");
  unions(&p->either, 5);
  expect(4, "a member");
  returned(&p->large[0], 3);
  expect(160, "returned");
  copy(&p->large[1], &p->large[0]);
  expect(160, "copy");
  byValue(&p->large[0], made(5));
  expect(160, "by value");
  smallCopy(&p->small[1], (struct small){6, 7});
  expect(8, "small");
  vectors(&p->four, &p->eight, &values);
  recorder_commit();
  variable(6, p->table, 2, 99);
  variable(3, (long(*)[3])p->table, 1, 98);
  expect(16, "variable");
  variableCopy(6, p->table, 3);
  expect(48, "variable copy");
  return recorder_finish();
}
#endif
