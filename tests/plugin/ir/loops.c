// One note before a loop that surely writes a whole range (Breeze, Fig. 8), and one per iteration when
// it may not.
// RUN: %ir -O1 -fno-unroll-loops -fno-vectorize %s | FileCheck %s
// RUN: %ir -O2 -fno-unroll-loops %s | FileCheck --check-prefix=VEC %s
// RUN: %run %s -DRUN > %t.run
// RUN: FileCheck --check-prefix=EXE %s --input-file=%t.run
// EXE-COUNT-5: 0 faults
#include "recorder.h"

void unknown(void);

// CHECK-LABEL: define {{.*}}@paper(
// CHECK: call {{.*}}@__nvmove_note(ptr nest %a, i64 512)
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
// VEC-LABEL: define {{.*}}@paper(
// VEC: call {{.*}}@__nvmove_note(ptr nest {{.*}}, i64 512)
// VEC-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// VEC: store <2 x double>
// VEC: {{^[}]}}
__attribute__((noinline)) void paper(double *restrict a, const double *restrict b) {
  for (int i = 0; i < 64; i++)
    a[i] = b[i] * 2;
}

// CHECK-LABEL: define {{.*}}@counted(
// CHECK: call {{.*}}@__nvmove_note(
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
__attribute__((noinline)) void counted(int *restrict a, const int *restrict b, int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 1;
}

// CHECK-LABEL: define {{.*}}@downwards(
// CHECK: call {{.*}}@__nvmove_note(
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
__attribute__((noinline)) void downwards(int *restrict a, const int *restrict b, int n) {
  for (int i = n; i-- > 0;)
    a[i] = b[i] + 1;
}

// Writes that tile the step count as one.
// CHECK-LABEL: define {{.*}}@tiles(
// CHECK: call {{.*}}@__nvmove_note(
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
struct point {
  long x, y;
};
__attribute__((noinline)) void tiles(struct point *restrict p, const long *restrict b, int n) {
  for (int i = 0; i < n; i++) {
    p[i].x = b[i] * 3;
    p[i].y = b[i] + 2;
  }
}

// A hole is not written: it is not noted.
// CHECK-LABEL: define {{.*}}@holes(
// CHECK: call {{.*}}@__nvm{{(ove_note_8\(|_note\(.*i64 8\))}}
// CHECK: {{^[}]}}
__attribute__((noinline)) void holes(struct point *restrict p, const long *restrict b, int n) {
  for (int i = 0; i < n; i++)
    p[i].x = b[i] * 3;
}

// CHECK-LABEL: define {{.*}}@early(
// CHECK: call {{.*}}@__nvm{{(ove_note_4\(|_note\(.*i64 4\))}}
// CHECK: {{^[}]}}
__attribute__((noinline)) void early(int *restrict a, const int *restrict b, int n) {
  for (int i = 0; i < n; i++) {
    if (b[i] == 3)
      break;
    a[i] = b[i];
  }
}

// CHECK-LABEL: define {{.*}}@sometimes(
// CHECK: call {{.*}}@__nvm{{(ove_note_4\(|_note\(.*i64 4\))}}
// CHECK: {{^[}]}}
__attribute__((noinline)) void sometimes(int *restrict a, const int *restrict b, int n) {
  for (int i = 0; i < n; i++)
    if (b[i] & 1)
      a[i] = b[i];
}

// CHECK-LABEL: define {{.*}}@commits(
// CHECK: call {{.*}}@__nvm{{(ove_note_4\(|_note\(.*i64 4\))}}
// CHECK: {{^[}]}}
__attribute__((noinline)) void commits(int *restrict a, const int *restrict b, int n) {
  for (int i = 0; i < n; i++) {
    a[i] = b[i] + 1;
    unknown();
  }
}

// The same address in each iteration: once, before.
// CHECK-LABEL: define {{.*}}@same(
// CHECK: call {{.*}}@__nvm{{(ove_note_4\(|_note\(.*i64 4\))}}
// CHECK: br label
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
__attribute__((noinline)) void same(volatile int *sum, const int *b, int n) {
  for (int i = 0; i < n; i++)
    *sum += b[i];
}

#ifdef RUN
#include <stdio.h>
void unknown(void) { recorder_commit(); }
static int expect(size_t bytes) {
  if (recorder_bytes() != bytes)
    printf("noted %zu bytes, wrote %zu\n", recorder_bytes(), bytes);
  return recorder_commit();
}
int main(void) {
  double *d = recorder_map(64 * sizeof *d), e[64] = {1, 2, 3};
  int *a = recorder_map(100 * sizeof *a), b[100];
  struct point *p = recorder_map(100 * sizeof *p);
  long l[100];
  for (int i = 0; i < 100; i++)
    l[i] = b[i] = 2 * i + (i == 50);
  paper(d, e);
  expect(512);
  for (int n = 0; n < 70; n += 23) {
    counted(a, b, n);
    expect(4 * (size_t)n);
    downwards(a, b, n);
    expect(4 * (size_t)n);
    tiles(p, l, n);
    expect(16 * (size_t)n);
    holes(p, l, n);
    expect(8 * (size_t)n);
    sometimes(a, b, n);
    expect(n > 50 ? 4 : 0);
    commits(a, b, n);
    same(a, b, n);
    expect(n ? 4 : 0);
  }
  b[10] = 3;
  early(a, b, 60);
  expect(40);
  return recorder_finish();
}
#endif
// The exact counts above: nothing but "recorder:" lines is printed.
// RUN: not grep "noted.*wrote" %t.run
// RUN: %crashes %s -DRUN --level=-O2
// RUN: %crashes %s -DRUN --level=-O2 --outside
