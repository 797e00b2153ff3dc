// Atomic functions, commit and split points: opaque calls at their edges, at every level, never inlined.
// RUN: %ir -O2 --nvmove-atomic=named --nvmove-commit=turn --nvmove-split=turn,whole %s | FileCheck %s
// RUN: %run %s -DRUN --nvmove-atomic=named --nvmove-commit=turn --nvmove-split=whole | FileCheck --check-prefix=EXE %s
// In a transaction they are part of it, and commit nothing; alone: committed.c, thrown.cpp.
// RUN: %crashes %s -DRUN --nvmove-atomic=named --nvmove-commit=turn --nvmove-split=whole
// EXE-COUNT-5: 43 commits, 0 faults
#include "nvmove/nvmove.h"
#include "recorder.h"

#include <setjmp.h>

// CHECK-LABEL: define {{.*}}@increment(
// CHECK: call void @__nvm_atomic_enter(ptr
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: store
// CHECK: call void @__nvm_atomic_leave(ptr
// CHECK: ret void
NVM_ATOMIC void increment(long *p) { ++*p; }

// Done late, -O2 would make one store of this.
// CHECK-LABEL: define {{.*}}@many(
// CHECK: call {{.*}}void @increment(
// CHECK: }
void many(long *p, int n) {
  for (int i = 0; i < n; i++)
    increment(p);
}

// CHECK-LABEL: define {{.*}}@named(
// CHECK: call void @__nvm_atomic_enter(
// CHECK: call void @__nvm_atomic_leave(
// CHECK: }
__attribute__((always_inline)) inline int named(long *p, int n);
int named(long *p, int n) {
  if (n)
    increment(p);
  *p += 3;
  return n;
}

// CHECK-LABEL: define {{.*}}@turn(
// CHECK: call void @__nvm_commit_point()
// CHECK-NEXT: call void @__nvm_split_point()
void turn(long *p) { *p = 5; }

// Split points: named, and in the source. Whether they commit the runtime knows; the recorder does.
// CHECK-LABEL: define {{.*}}@whole(
// CHECK-NOT: __nvm_commit_point
// CHECK: call void @__nvm_split_point()
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
void whole(long *p) { *p = 6; }
// CHECK-LABEL: define {{.*}}@marked(
// CHECK: call void @__nvm_split_point()
NVM_SPLIT_POINT void marked(long *p) { *p = 7; }

// longjmp out of an atomic function.
jmp_buf environment;
NVM_ATOMIC void jump(long *p) {
  *p = 8;
  longjmp(environment, 1);
}
// CHECK-LABEL: define {{.*}}@landing(
// CHECK: call i32 @_setjmp(
// CHECK: call void @__nvm_atomic_landed(ptr
int landing(long *p) {
  if (setjmp(environment) == 0)
    jump(p);
  return 1;
}

#ifdef RUN
int main(void) {
  long *p = recorder_map(64); //         commits:
  many(p, 34);                //         34
  named(p, 0);                //         1
  named(p, 1);                //         1, the inner is part of the outer
  turn(p);                    //         1 before the store
  turn(p);                    //         1 more
  whole(p);                   //         1 more
  marked(p);                  //         1 more
  landing(p);                 //         1
  increment(p);               //         1: nothing is left open behind the jump
  return recorder_finish();   //         1
}
#endif
