// The sequence before a write: range test, then a call that asks the rest.
// RUN: %ir -O1 %s | FileCheck %s

// CHECK: @__nvm_lines = external thread_local(initialexec) global ptr
// CHECK: @__nvmove_abi_needed = linkonce_odr hidden constant ptr @__nvm_abi_7, comdat

// CHECK-LABEL: define {{.*}}@aligned(
// CHECK: %[[A:.*]] = ptrtoint ptr %p to i64
// CHECK: %[[T:.*]] = lshr i64 %[[A]], 38
// CHECK: %[[I:.*]] = icmp eq i64 %[[T]], 506
// CHECK: br i1 %[[I]], label %{{[0-9]+}}, label %[[STORE:[0-9]+]], {{.*}}!prof ![[BESIDE:.*]]
// CHECK: call preserve_mostcc void @__nvmove_note_4(ptr nest %p)
// CHECK: {{^}}[[STORE]]:
// CHECK-NEXT: store i32 1, ptr %p
void aligned(int *p) { *p = 1; }

// A write larger than a line does not ask the filter.
// CHECK-LABEL: define {{.*}}@large(
// CHECK: call preserve_mostcc void @__nvmove_note(ptr nest %p, i64 80)
void large(char *p) { __builtin_memset(p, 1, 80); }

// A length that is not known may be zero.
// CHECK-LABEL: define {{.*}}@unknown(
// CHECK: call preserve_mostcc void @__nvmove_note(ptr nest %p, i64 %n)
// CHECK: call void @llvm.memset
void unknown(char *p, unsigned long n) { __builtin_memset(p, 1, n); }

// In a small innermost loop the filter is inline, and what follows is moved out of the way.
// CHECK-LABEL: define {{.*}}@loop(
// CHECK: br i1 %{{.*}}, !prof ![[UNLIKELY:.*]]
// CHECK: lshr i64 %{{.*}}, 2
// CHECK: and i64 %{{.*}}, 8176
// CHECK: and i64 %{{.*}}, 63
// CHECK: and i64 %{{.*}}, 15
// CHECK: icmp ne i64 %{{.*}}, 15
// CHECK: br i1 %{{.*}}, !prof ![[UNLIKELY]]
// CHECK: call preserve_mostcc void @__nvmove_note_4(ptr nest %{{.*}})
struct list {
  struct list *next;
  int n;
};
void loop(struct list *p) {
  for (; p; p = p->next)
    p->n = 1;
}

// In one with more than that it is not.
// CHECK-LABEL: define {{.*}}@long_loop(
// CHECK: icmp eq i64 %{{.*}}, 506
// CHECK-NOT: lshr i64 %{{.*}}, 2
// CHECK: call preserve_mostcc void @__nvmove_note_4(ptr nest %{{.*}})
// CHECK: {{^[}]}}
void long_loop(struct list *p) {
  for (; p; p = p->next) {
    p->n += *(volatile int *)&p->n;
    p->next->n += *(volatile int *)&p->n;
    p->next->next->n += *(volatile int *)&p->n;
  }
}

// The filter stands inline in a small loop with two notes, and with three it does not: that is text for little time.
// CHECK-LABEL: define {{.*}}@two_in_loop(
// CHECK: @__nvm_lines
// CHECK: {{^[}]}}
struct cell {
  struct cell *next;
  int n;
  char far[80];
};
void two_in_loop(struct cell *p, int n) {
  for (; p; p = p->next) {
    p->n = n;
    p->far[64] = 1;
  }
}

// CHECK-LABEL: define {{.*}}@three_in_loop(
// CHECK-NOT: @__nvm_lines
// CHECK: {{^[}]}}
void three_in_loop(struct cell *p, int n) {
  for (; p; p = p->next) {
    p->n = n;
    p->far[32] = 1;
    p->far[64] = 1;
  }
}

// Where the function seldom comes, and where it is to be small, a call asks everything.
// CHECK-LABEL: define {{.*}}@seldom(
// CHECK-NOT: 506
// CHECK: call preserve_mostcc void @__nvmove_note_4(ptr nest %p)
// CHECK-NEXT: store
// CHECK: {{^[}]}}
void seldom(int *p, int error) {
  if (__builtin_expect(error, 0))
    *p = error;
}

// CHECK-LABEL: define {{.*}}@small(
// CHECK-NEXT: entry:
// CHECK-NEXT: call preserve_mostcc void @__nvmove_note_4(ptr nest %p)
// CHECK-NEXT: store
// CHECK: declare preserve_mostcc void @__nvm_site_4(ptr nest) [[ATTRIBUTES:#[0-9]+]]
__attribute__((minsize)) void small(int *p) { *p = 1; }

// The call is a jump to the runtime's, for each size.
// CHECK-LABEL: define linkonce_odr hidden preserve_mostcc void @__nvmove_note_4(ptr nest %0)
// CHECK-NEXT: musttail call preserve_mostcc void @__nvm_site_4(ptr nest %0)

// CHECK: attributes [[ATTRIBUTES]] = {{.*}}nonlazybind
// CHECK-DAG: ![[BESIDE]] = !{!"branch_weights", i32 1, i32 3}
// CHECK-DAG: ![[UNLIKELY]] = !{!"branch_weights", i32 1, i32 1048575}
// CHECK-DAG: !{i32 7, !"nvmove.instrumented", i32 1}
