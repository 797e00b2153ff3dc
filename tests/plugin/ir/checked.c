// The checked build shows each stored pointer to the runtime, with place and field.
// RUN: %run %s --nvmove-checked | FileCheck %s
// CHECK: -O0: checked.c:[[@LINE+13]]:11: unsafe pointer in struct node.next
// CHECK: -O0: checked.c:[[@LINE+13]]:11: unsafe pointer in struct node.text
// CHECK-NEXT: -O0: recorder
// CHECK: -O2: checked.c:{{[0-9]+}}:11: unsafe pointer in struct node.next
// CHECK: -O2: checked.c:{{[0-9]+}}:11: unsafe pointer in struct node.text
// CHECK-NEXT: -O2: recorder: {{[24]}} notes, 32 bytes, 1 commits, 0 faults
#include "recorder.h"

struct node {
  struct node *next;
  const char *text;
};
static void link(struct node *p, struct node *other, struct node *local, const char *text) {
  p->next = local;
  p->text = text;
  other->next = p;
  other->text = 0;
  local->next = local;
}
int main(void) {
  struct node *p = recorder_map(2 * sizeof *p), local;
  void (*volatile run)(struct node *, struct node *, struct node *, const char *) = link;
  run(p, p + 1, &local, "text");
  return recorder_finish();
}
