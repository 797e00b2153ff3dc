// A note serves later writes of the same bytes on every path, until something may commit.
// RUN: %ir -O1 %s | FileCheck %s
// RUN: %run %s -DRUN | FileCheck --check-prefix=EXE %s
// EXE-COUNT-5: 0 faults
// RUN: %crashes %s -DRUN
#include "recorder.h"

#include <string.h>

void unknown(void);
struct pair {
  volatile long a, b;
};

// CHECK-LABEL: define {{.*}}@onlyOneArm(
// CHECK-COUNT-2: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
__attribute__((noinline)) void onlyOneArm(struct pair *p, int n) {
  if (n)
    p->a = 1;
  p->a = 2;
}

// CHECK-LABEL: define {{.*}}@bothArms(
// CHECK-COUNT-3: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
__attribute__((noinline)) void bothArms(struct pair *p, int n) {
  if (n) {
    p->a = 1;
    p->b = 1;
  } else {
    p->a = 3;
  }
  p->a = 2;
}

// Parts add up: two halves cover the whole, one half does not.
// CHECK-LABEL: define {{.*}}@halves(
// CHECK-COUNT-2: call {{.*}}@__nvm{{(ove_note_4\(|_note\(.*i64 4\))}}
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
__attribute__((noinline)) void halves(volatile int *p) {
  p[0] = 1;
  p[1] = 2;
  *(volatile long *)p = 3;
}
// CHECK-LABEL: define {{.*}}@half(
// CHECK: call {{.*}}@__nvm{{(ove_note_4\(|_note\(.*i64 4\))}}
// CHECK: call {{.*}}@__nvm{{(ove_note_8\(|_note\(.*i64 8\))}}
__attribute__((noinline)) void half(volatile int *p) {
  p[0] = 1;
  *(volatile long *)p = 3;
}

// CHECK-LABEL: define {{.*}}@call(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: call void @unknown
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
__attribute__((noinline)) void call(struct pair *p) {
  p->a = 1;
  unknown();
  p->a = 2;
}

__attribute__((noinline)) long harmless(struct pair *p) { return p->a + p->b; }
// CHECK-LABEL: define {{.*}}@harmlessCall(
// CHECK-COUNT-1: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: {{^[}]}}
__attribute__((noinline)) void harmlessCall(struct pair *p) {
  p->a = 1;
  long n = harmless(p);
  p->a = n + (long)strlen("text");
}

// The next iteration's element is another one, although the same instruction computes it.
// CHECK-LABEL: define {{.*}}@chase(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
struct list {
  struct list *next;
  volatile long n;
};
__attribute__((noinline)) void chase(struct list *p) {
  for (; p; p = p->next)
    p->n = 1;
}

#ifdef RUN
void unknown(void) { recorder_commit(); }
int main(void) {
  struct pair *p = recorder_map(sizeof *p);
  onlyOneArm(p, 0);
  recorder_commit();
  onlyOneArm(p, 1);
  recorder_commit();
  bothArms(p, 1);
  halves((volatile int *)p);
  recorder_commit();
  half((volatile int *)p);
  call(p);
  harmlessCall(p);
  recorder_commit();
  struct list *l = recorder_map(4 * sizeof *l);
  for (int i = 0; i < 3; i++)
    l[i].next = l + i + 1;
  recorder_commit();
  chase(l);
  return recorder_finish();
}
#endif
