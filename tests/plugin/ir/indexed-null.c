// An address that is counted from null may be any: without optimization the store happens.
// RUN: %ir -O0 %s | FileCheck %s
struct pair {
  long first, second;
};

// CHECK-LABEL: @indexed(
// CHECK: call {{.*}}@__nvm{{(ove)?}}_note
// CHECK: ret void
void indexed(unsigned long word) { ((long *)0)[word] = 98; }

// A member of what is null lies nowhere.
// CHECK-LABEL: @nowhere(
// CHECK-NOT: note
// CHECK: ret void
void nowhere(void) { ((struct pair *)0)->second = 1; }
