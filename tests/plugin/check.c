// The sequence before a write: range test, then the filter, then the call.
// RUN: %ir -O1 %s | FileCheck %s

// CHECK: @__nvm_lines = external thread_local(initialexec) global ptr
// CHECK: @__nvmove_abi_needed = linkonce_odr hidden constant ptr @__nvm_abi_5, comdat

// CHECK-LABEL: define {{.*}}@aligned(
// CHECK: %[[A:.*]] = ptrtoint ptr %p to i64
// CHECK: %[[T:.*]] = lshr i64 %[[A]], 38
// CHECK: %[[I:.*]] = icmp eq i64 %[[T]], 506
// CHECK: br i1 %[[I]], label %{{[0-9]+}}, label %[[STORE:[0-9]+]], {{.*}}!prof ![[UNLIKELY:.*]]
// CHECK: call preserve_mostcc void @__nvmove_note_4(ptr %p)
// CHECK: {{^}}[[STORE]]:
// CHECK-NEXT: store i32 1, ptr %p
void aligned(int *p) { *p = 1; }

// A write larger than a line does not ask the filter.
// CHECK-LABEL: define {{.*}}@large(
// CHECK: call preserve_mostcc void @__nvm_note(ptr %p, i64 80)
void large(char *p) { __builtin_memset(p, 1, 80); }

// A length that is not known may be zero.
// CHECK-LABEL: define {{.*}}@unknown(
// CHECK: call void @__nvm_note_if_persistent(ptr %p, i64 %n)
// CHECK: call void @llvm.memset
void unknown(char *p, unsigned long n) { __builtin_memset(p, 1, n); }

// In an innermost loop the filter is inline.
// CHECK-LABEL: define {{.*}}@loop(
// CHECK: lshr i64 %{{.*}}, 6
// CHECK: and i64 %{{.*}}, 511
// CHECK: getelementptr inbounds [2 x i64], ptr
// CHECK: and i64 %{{.*}}, 63
// CHECK: and i64 %{{.*}}, 15
// A write that crosses a line is not looked up.
// CHECK: icmp ugt i64 %{{.*}}, 60
// CHECK: br i1 %{{.*}}, !prof ![[UNLIKELY]]
// CHECK: call preserve_mostcc void @__nvm_note(ptr %{{.*}}, i64 4)
struct list {
  struct list *next;
  int n;
};
void loop(struct list *p) {
  for (; p; p = p->next)
    p->n = 1;
}

// Elsewhere it is in a function for each size.
// CHECK-LABEL: define linkonce_odr hidden preserve_mostcc void @__nvmove_note_4(ptr %0)
// CHECK: call ptr @llvm.threadlocal.address.p0(ptr @__nvm_lines)
// CHECK: call preserve_mostcc void @__nvm_note(ptr %0, i64 4)

// CHECK-DAG: ![[UNLIKELY]] = !{!"branch_weights", i32 1, i32 1048575}
// CHECK-DAG: !{i32 7, !"nvmove.instrumented", i32 1}
