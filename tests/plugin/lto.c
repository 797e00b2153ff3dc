// Link-time optimisation instruments nothing twice, whatever the linker loads.
// RUN: %cc -O2 -flto -I %inputs -c %s -o %t.full.o
// RUN: %cc -O2 -flto=thin -I %inputs -c %s -o %t.thin.o
// RUN: llvm-dis %t.full.o -o - | FileCheck %s
// RUN: llvm-dis %t.thin.o -o - | FileCheck %s
// CHECK-LABEL: define {{.*}}@store(
// CHECK-COUNT-1: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK-NOT: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: }
// RUN: clang-19 -x ir %t.thin.o -O2 -fpass-plugin=%plugin -S -emit-llvm -o - | FileCheck %s
// RUN: %run %s --level=-O2 -flto=thin -fuse-ld=lld | FileCheck --check-prefix=EXE %s
// RUN: %run %s --level=-O2 -flto -fuse-ld=lld | FileCheck --check-prefix=EXE %s
// RUN: %run %s --level=-O2 -flto -fuse-ld=lld -Wl,--load-pass-plugin=%plugin | FileCheck --check-prefix=EXE %s
// RUN: %crashes %s --level=-O2 -flto -fuse-ld=lld
// EXE: recorder: 1 notes, 8 bytes, 1 commits, 0 faults
#include "recorder.h"
__attribute__((noinline)) void store(long *p) { *p = 1; }
int main(void) {
  store(recorder_map(64));
  return recorder_finish();
}
