// Atomic read-modify-write and compare-and-exchange of data that a lock protects: --nvmove-atomics=locked logs
// them as stores. One that does not exchange is noted, too: what it will do is not known before.
// RUN: %ir -O1 --nvmove-atomics=locked %s 2>&1 | FileCheck --implicit-check-not=warning: %s
// RUN: %run %s -DRUN --nvmove-atomics=locked | FileCheck --check-prefix=EXE %s
// EXE-COUNT-5: 0 faults
// RUN: %crashes %s -DRUN --nvmove-atomics=locked
// RUN: not %crashes %s -DRUN -w --level=-O0 2>&1 | FileCheck --check-prefix=UNLOGGED %s
// UNLOGGED: pool_recorder: after {{[0-9]+}} commits: neither that state nor the next
#include "recorder.h"

// CHECK-LABEL: define {{.*}}@add(
// CHECK: call {{.*}}@__nvmove_note_8(ptr nest %p)
// CHECK: atomicrmw add ptr %p
__attribute__((noinline)) long add(long *p) { return __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }

// CHECK-LABEL: define {{.*}}@swap(
// CHECK: call {{.*}}@__nvmove_note_4(ptr nest %p)
// CHECK: cmpxchg ptr %p, i32
// CHECK: {{^[}]}}
__attribute__((noinline)) _Bool swap(int *p, int old, int new) {
  return __atomic_compare_exchange_n(p, &old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

// In a loop, until nobody was in between.
// CHECK-LABEL: define {{.*}}@triple(
// CHECK: call {{.*}}@__nvmove_note_2(ptr nest %p)
// CHECK: cmpxchg ptr %p, i16
__attribute__((noinline)) int triple(_Atomic short *p) { return *p *= 3; }

// CHECK-LABEL: define {{.*}}@pointers(
// CHECK: call {{.*}}@__nvmove_note_8(ptr nest %p)
// CHECK: atomicrmw xchg ptr %p
__attribute__((noinline)) void *pointers(void **p, void *new) {
  return __atomic_exchange_n(p, new, __ATOMIC_ACQ_REL);
}

// CHECK-LABEL: define {{.*}}@old(
// CHECK: call {{.*}}@__nvmove_note_1(ptr nest %p)
// CHECK: atomicrmw or ptr %p
// CHECK: call {{.*}}@__nvmove_note_16(ptr nest %q)
// CHECK: cmpxchg ptr %q
__attribute__((noinline, target("cx16"))) void old(char *p, __int128 *q) {
  __sync_fetch_and_or(p, 6);
  __sync_bool_compare_and_swap(q, 0, (__int128)5 << 90 | 7);
}

#ifdef RUN
struct all {
  _Alignas(64) long count;
  _Alignas(64) int state;
  _Alignas(64) _Atomic short times;
  _Alignas(64) void *pointer;
  _Alignas(64) char bits;
  _Alignas(64) __int128 wide;
};

int main(void) {
  struct all *p = recorder_map(sizeof *p);
  for (int i = 0; i < 3; i++) {
    add(&p->count);
    int swapped = swap(&p->state, i, i + 1);
    p->times += (short)(i + swapped);
    triple(&p->times);
    pointers(&p->pointer, (void *)(64L + i));
    old(&p->bits, &p->wide);
    swap(&p->state, 77, 78); // which does nothing
    recorder_commit();
  }
  return recorder_finish();
}
#endif
