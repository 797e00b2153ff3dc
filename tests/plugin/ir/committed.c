// Atomic functions, and longjmp leaving them, executed: each commits as it ends, and not before. Killed at
// each append; what is stored and not committed is lost with the process (--committed).
// RUN: %crashes %s --committed --nvmove-atomic=named
// RUN: not %crashes %s --committed --level=-O0 2>&1 | FileCheck %s
// RUN: not %crashes %s --committed --level=-O2 --nvmove-atomic=named -DNOT_LANDED -Wl,--wrap=__nvm_atomic_landed,--wrap=nvmi_tx_left_below \
// RUN:   2>&1 | FileCheck %s
// CHECK: pool_recorder: after {{[0-9]+}} commits: neither that state nor the next
#include "nvmove/nvmove.h"
#include "recorder.h"

#include <setjmp.h>

#ifdef NOT_LANDED // nobody is told of the jumps
void __wrap___nvm_atomic_landed(void *frame) { (void)frame; }
void __wrap_nvmi_tx_left_below(void *thread, unsigned long stack) { (void)thread, (void)stack; }
#endif

enum { APART = 16 }; // longs of two lines of memory
static jmp_buf environment;

__attribute__((noinline)) static void store(long *p, long value) {
  p[0] = value;
  p[APART] = value;
}
NVM_ATOMIC static void increment(long *p) {
  ++p[0];
  ++p[APART];
}

// By its name, with others in it: one transaction.
__attribute__((noinline)) static int named(long *p, int n) {
  increment(p);
  for (int i = 0; i < n; i++)
    increment(p + 1);
  p[2 * APART] = n;
  return n;
}
// Its beginning commits what was stored outside.
NVM_ATOMIC static void empty(void) { __asm__ volatile(""); }

// Left by a return in the middle.
NVM_ATOMIC static int several(long *p, int n) {
  store(p, n);
  if (n == 1)
    return 1;
  store(p + 2, n);
  return n;
}

NVM_COMMIT_POINT __attribute__((noinline)) static void point(long *p) {
  if (p)
    store(p + 3, p[3] + 5);
}

NVM_ATOMIC static void jump(long *p, int to) {
  store(p, 8);
  longjmp(environment, to);
}
NVM_ATOMIC static void deep(long *p) {
  store(p + 1, 9);
  jump(p, 2);
}
__attribute__((noinline)) static int landing(long *p, int how) {
  int arrived = setjmp(environment);
  if (!arrived && how == 1)
    jump(p, 1);
  if (!arrived)
    deep(p);
  return arrived;
}
// The inner is left, the outer goes on: nothing commits before its end.
NVM_ATOMIC static void around(long *p) {
  store(p + 4, 10);
  landing(p, 2);
  store(p + 5, 11);
}

int main(void) {
  long *p = recorder_map(4 * APART * sizeof *p);
  increment(p), recorder_commit();
  increment(p), recorder_commit();
  named(p, 3), recorder_commit();
  several(p, 1), recorder_commit();
  several(p, 2), recorder_commit();
  landing(p, 1), recorder_commit();
  increment(p), recorder_commit(); // nothing is left open behind the jump
  landing(p, 2), recorder_commit();
  increment(p), recorder_commit();
  around(p), recorder_commit();
  store(p, 50), point(NULL), recorder_commit();
  point(p), point(NULL), recorder_commit();
  store(p, 51), empty(), recorder_commit();
  increment(p);
  return recorder_finish();
}
