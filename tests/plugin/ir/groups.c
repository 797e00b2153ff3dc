// Writes in a row are noted together, before the first, with one wait behind the notes.
// RUN: %ir -O1 %s | FileCheck %s
// RUN: %run %s -DRUN | FileCheck --check-prefix=EXE %s
// EXE-COUNT-5: 0 faults
// RUN: %crashes %s -DRUN
#include "recorder.h"

#include <string.h>

void unknown(void);
struct node {
  struct node *next, *prev;
  int count, place;
  long values[4];
};

// Fields of one object: one test of the range.
// CHECK-LABEL: define {{.*}}@unlink(
// CHECK-COUNT-1: icmp eq i64 %{{.*}}, 506
// CHECK-NOT: icmp eq i64 %{{.*}}, 506
// CHECK: call {{.*}}@__nvmove_note_ahead_8(
// CHECK: call {{.*}}@__nvmove_note_ahead_4(
// CHECK-NEXT: call preserve_mostcc void @__nvmove_note_drain()
// CHECK: store ptr null
// CHECK: store i32 0
__attribute__((noinline)) void unlink(struct node *n) {
  n->prev = 0;
  n->place = 0;
}

// Of two objects: a test each, and the computation of an index moves up.
// CHECK-LABEL: define {{.*}}@link(
// CHECK-COUNT-2: icmp eq i64 %{{.*}}, 506
// CHECK: call {{.*}}@__nvmove_note_ahead_8(
// CHECK: call {{.*}}@__nvmove_note_ahead_8(
// CHECK: call {{.*}}@__nvmove_note_ahead_8(
// CHECK: call {{.*}}@__nvmove_note_drain
// CHECK: store
// CHECK: store
// CHECK: store
__attribute__((noinline)) void link(struct node *a, struct node *b, long at) {
  a->next = b;
  b->prev = a;
  b->values[at & 3] = at;
}

// Where the function seldom comes, too: several calls for nothing cost more than one test.
// CHECK-LABEL: define {{.*}}@seldom(
// CHECK: icmp eq i64 %{{.*}}, 506
// CHECK: call {{.*}}@__nvmove_note_ahead_8(
// CHECK: call {{.*}}@__nvmove_note_ahead_4(
__attribute__((noinline)) void seldom(struct node *n, int error) {
  if (__builtin_expect(error, 0)) {
    n->prev = 0;
    n->place = error;
  }
}

// But not where text is to be small.
// CHECK-LABEL: define {{.*}}@small(
// CHECK-NOT: 506
// CHECK: {{^[}]}}
__attribute__((noinline, minsize)) void small(struct node *n) {
  n->prev = 0;
  n->place = 0;
}

// Neighbours are one note.
// CHECK-LABEL: define {{.*}}@both(
// CHECK-NOT: ahead
// CHECK: call {{.*}}@__nvmove_note_16(ptr nest %n)
// CHECK: {{^[}]}}
__attribute__((noinline)) void both(struct node *n, struct node *other) {
  n->prev = other;
  n->next = n;
}

// An address that is loaded after a write may have been changed by it.
// CHECK-LABEL: define {{.*}}@loaded(
// CHECK: call {{.*}}@__nvmove_note_8(
// CHECK: store
// CHECK: call {{.*}}@__nvmove_note_4(
// CHECK: {{^[}]}}
__attribute__((noinline)) void loaded(struct node **a, struct node *b) {
  *a = b;
  (*(struct node *volatile *)a)->count = 1;
}

// A call may commit, not return, or wait for another thread.
// CHECK-LABEL: define {{.*}}@call(
// CHECK: call {{.*}}@__nvmove_note_8(
// CHECK: call void @unknown
// CHECK: call {{.*}}@__nvmove_note_8(
// CHECK: {{^[}]}}
#ifndef RUN
void call(struct node *n) {
  n->next = 0;
  unknown();
  n->prev = 0;
}
#endif

// So may an atomic access: the bytes behind it belong to whoever holds the lock.
// CHECK-LABEL: define {{.*}}@spin(
// CHECK: call {{.*}}@__nvmove_note_4(
// CHECK: load atomic
// CHECK: call {{.*}}@__nvmove_note_4(
// CHECK: {{^[}]}}
__attribute__((noinline)) void spin(struct node *n, int *lock) {
  n->count = 1;
  __atomic_load_n(lock, __ATOMIC_ACQUIRE);
  n->place = 2;
}

// And a volatile one, with which older programs do the same.
// CHECK-LABEL: define {{.*}}@flag(
// CHECK: call {{.*}}@__nvmove_note_4(
// CHECK: load volatile
// CHECK: call {{.*}}@__nvmove_note_4(
// CHECK: {{^[}]}}
__attribute__((noinline)) void flag(struct node *n, volatile int *turn) {
  n->count = 1;
  (void)*turn;
  n->place = 2;
}

// A length that depends on nothing written.
// CHECK-LABEL: define {{.*}}@insert(
// CHECK: call {{.*}}@__nvmove_note_ahead(
// CHECK: call {{.*}}@__nvmove_note_ahead_8(
// CHECK: call {{.*}}@__nvmove_note_ahead_4(
// CHECK: call {{.*}}@__nvmove_note_drain
// CHECK: call void @llvm.memmove
__attribute__((noinline)) void insert(struct node *n, unsigned at, long value) {
  memmove(n->values + at + 1, n->values + at, (size_t)(3 - at) * sizeof(long));
  n->values[at] = value;
  n->count++;
}

#ifdef RUN
int main(void) {
  struct node *n = recorder_map(2 * sizeof *n);
  int lock = 0;
  link(n, n + 1, 2);
  unlink(n + 1);
  both(n + 1, n);
  loaded(&n->next, n + 1);
  spin(n, &lock);
  flag(n, &lock);
  insert(n + 1, 1, 7);
  return recorder_finish();
}
#endif
