// An exception that leaves an atomic function commits it where it lands, and one that does not
// leave it commits nothing. Executed, and killed at each append.
// RUN: %crashes %s --committed --level=-O0 --level=-O2
// RUN: not %crashes %s --committed --level=-O2 -DNOT_LANDED \
// RUN:   -Wl,--wrap=__nvm_atomic_thrown -Wl,--wrap=__nvm_atomic_passed 2>&1 | FileCheck %s
// CHECK: pool_recorder: after {{[0-9]+}} commits: neither that state nor the next
extern "C" {
#include "nvmove/nvmove.h"
#include "recorder.h"
#ifdef NOT_LANDED // nobody is told of the exceptions
void __wrap___nvm_atomic_thrown(void *, void *) {}
void __wrap___nvm_atomic_passed(void *, void *) {}
#endif
}

enum { APART = 16 }; // longs of two lines of memory

__attribute__((noinline)) static void store(long *p, long value) {
  p[0] = value;
  p[APART] = value;
}
NVM_ATOMIC static void increment(long *p) {
  ++p[0];
  ++p[APART];
}
NVM_ATOMIC static void fail(long *p, int code) {
  store(p, code);
  throw code;
}
NVM_ATOMIC static void deep(long *p) {
  store(p + 1, 9);
  fail(p, 2);
}

// Arrives in the frame that called.
__attribute__((noinline)) static void caught(long *p, void (*f)(long *, int)) {
  try {
    f(p, 7);
  } catch (int code) {
  }
}
static void outOfTwo(long *p, int) { deep(p); }

// A destructor on the way is run behind the commit.
struct Guard {
  long *P;
  ~Guard() {
    recorder_commit();
    increment(P + 2);
  }
};
__attribute__((noinline)) static void guarded(long *p, int code) {
  Guard G{p};
  fail(p, code);
}
__attribute__((noinline)) static void rethrown(long *p, int code) {
  try {
    fail(p, code);
  } catch (...) {
    throw;
  }
}

// Caught inside: the inner one is part of the outer, which goes on.
NVM_ATOMIC static void inside(long *p) {
  store(p + 3, 1);
  caught(p, fail);
  store(p + 4, 2);
}
NVM_ATOMIC static void own(long *p) {
  store(p + 5, p[5] + 1);
  try {
    throw 3;
  } catch (int code) {
    store(p + 6, p[6] + code);
  }
}

int main() {
  auto *p = (long *)recorder_map(4 * APART * sizeof(long));
  increment(p), recorder_commit();
  caught(p, fail), recorder_commit();
  increment(p), recorder_commit(); // nothing is left open behind it
  caught(p, outOfTwo), recorder_commit();
  increment(p), recorder_commit();
  caught(p, rethrown), recorder_commit();
  increment(p), recorder_commit();
  caught(p, guarded), recorder_commit();
  inside(p), recorder_commit();
  own(p), recorder_commit();
  increment(p);
  return recorder_finish();
}
