// The harness of the crash tests itself: it fails for a program that stores nothing, that stores what nobody
// noted, that ends the transaction too early, or that tells of a commit it did not make.
// RUN: not %crashes %s --level=-O0 -DNOTHING 2>&1 | FileCheck --check-prefix=NOTHING %s
// NOTHING: pool_recorder: the program stored nothing
// RUN: not %crashes %s --level=-O0 -w -DUNNOTED 2>&1 | FileCheck --check-prefix=UNNOTED %s
// UNNOTED: failed with NVMOVE_METHOD=undo NVMOVE_DEBUG=compare
// RUN: not %crashes %s --level=-O0 --outside -DEARLY 2>&1 | FileCheck --check-prefix=EARLY %s
// EARLY: pool_recorder: after {{[12]}} commits: neither that state nor the next
// RUN: not %crashes %s --level=-O0 --committed 2>&1 | FileCheck --check-prefix=EARLY %s
// RUN: not %crash %s -DEMPTY 2>&1 | FileCheck --check-prefix=EMPTY %s
// EMPTY: undo: the program logs nothing
#ifdef EMPTY
int main(void) { return 0; }
#else
#include "nvmove/nvmove.h"
#include "recorder.h"

NVM_COMMIT_POINT __attribute__((noinline)) static void point(void) { __asm__ volatile(""); }

int main(void) {
  long *p = recorder_map(256);
#ifdef UNNOTED
  __asm__ volatile("movq $1, %0" : "=m"(p[8]));
#endif
#ifndef NOTHING
  p[0] = 1;
#endif
#ifdef EARLY
  point();
  p[8] = 1;
#endif
  recorder_commit();
#ifndef NOTHING
  p[16] = 1;
#endif
  (void)point;
  return recorder_finish();
}
#endif
