// The checked build looks at the pointers in records that a trivial assignment operator copies, and at no others.
// RUN: %cxx -O0 --nvmove-checked -S -emit-llvm %s -o - | FileCheck %s
struct node {
  node *next;
  char *text;
  long number;
};
struct numbers {
  long value[3];
};
// CHECK-LABEL: define {{.*}}assign_node
// CHECK-COUNT-2: call void @__nvm_check_pointer
// CHECK-NOT: call void @__nvm_check_pointer
// CHECK-LABEL: define {{.*}}assign_numbers
// CHECK-NOT: call void @__nvm_check_pointer
void assign_node(node *to, const node *from) { *to = *from; }
void assign_numbers(numbers *to, const numbers *from) { *to = *from; }
