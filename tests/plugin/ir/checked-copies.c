// The checked build shows the pointers in records that are copied, with their fields.
// RUN: %run %s --nvmove-checked --level=-O0 | FileCheck %s
// RUN: %run %s --nvmove-checked --level=-O2 | FileCheck %s
// CHECK: {{.*}}checked-copies.c:19:9: unsafe pointer in struct node.text
// CHECK-NEXT: {{.*}}checked-copies.c:22:3: unsafe pointer in struct node.next
// CHECK-NEXT: {{.*}}checked-copies.c:22:3: unsafe pointer in struct node.text
// CHECK-NEXT: {{.*}}checked-copies.c:22:3: unsafe pointer in struct node.text
// CHECK-NEXT: {{.*}}recorder: {{.*}} 0 faults
#include "recorder.h"

#include <string.h>

struct node {
  struct node *next;
  char *text;
  long number;
};
static void assign(struct node *to, const struct node *from) {
  *to = *from;
}
static void copy(struct node *to, const struct node *from) {
  memcpy(to, from, 2 * sizeof *to);
}
struct numbers {
  long value[3];
};
#define BOTH(a, b, c, d) (*(a) = *(b), *(c) = *(d)) // two records at one place: neither is looked at
static void assign_both(struct node *to, const struct node *from, struct numbers *numbers, const struct numbers *others) {
  BOTH(numbers, others, to, from);
}
int main(void) {
  struct numbers others = {{5, 6, 7}};
  struct node *p = recorder_map(3 * sizeof *p), local[2] = {{.text = "text", .number = (long)&local}};
  void (*volatile run[])(struct node *, const struct node *) = {assign, copy, assign};
  run[0](p, local);
  local[0].next = &local[1];
  local[1].text = "other";
  run[1](p, local);
  run[2](local, p);
  local[0] = local[1] = (struct node){0};
  run[2](p, local);
  assign_both(p, local, (struct numbers *)&p[1], &others);
  return recorder_finish();
}
