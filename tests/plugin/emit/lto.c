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
// Killed at each append, with stores that the linker may move out of another source, or into one.
// RUN: %cc -O2 -flto=thin -DOTHER -I %inputs -c %s -o %t.other.thin.o
// RUN: %cc -O2 -flto -DOTHER -I %inputs -c %s -o %t.other.full.o
// RUN: %crashes %s -DMORE --level=-O2 %t.other.thin.o -flto=thin -fuse-ld=lld
// RUN: %crashes %s -DMORE --level=-O2 %t.other.full.o -flto -fuse-ld=lld
// EXE: recorder: 1 notes, 8 bytes, 1 commits, 0 faults
#include "recorder.h"

#include <string.h>

struct record {
  long n[4];
  char text[40];
  struct record *next;
};
void fill(struct record *to, long n);
void link(struct record *to, struct record *next);

#ifdef OTHER
void fill(struct record *to, long n) {
  for (int i = 0; i < 4; i++)
    to->n[i] = n * i;
  strcpy(to->text, "text");
  to->text[5] = (char)n;
}
void link(struct record *to, struct record *next) { to->next = next; }
#else
__attribute__((noinline)) void store(long *p) { *p = 1; }
int main(void) {
#ifdef MORE
  struct record *p = recorder_map(3 * sizeof *p);
  for (int i = 0; i < 3; i++) {
    fill(p + i, i + 1);
    link(p + i, p);
    if (i)
      p[i] = p[i - 1];
    store(&p[i].n[3]);
    if (i % 2)
      recorder_commit();
  }
#else
  store(recorder_map(64));
#endif
  return recorder_finish();
}
#endif
