// Rows of a static table that say the same again are recorded once.
// Wrong: a second 'field' of the same member; a row's own function lost.
// RUN: %scan --emit-facts %s -o %t.nvf --
// RUN: %nvmove facts %t.nvf | FileCheck %s
typedef int handler(int);
extern handler first, second;
struct row {
  const char *name;
  handler *run;
};

// CHECK-LABEL: body (static initialisers) parameters 0
// CHECK: [[T:r[0-9]+]] = address rows
// CHECK: field [[T]] .name
// CHECK-NEXT: store
// CHECK: [[F:r[0-9]+]] = field [[T]] .run
// CHECK-NEXT: [[A:r[0-9]+]] = address first
// CHECK-NEXT: store [[F]] [[A]]
// CHECK-NEXT: [[B:r[0-9]+]] = address second
// CHECK-NEXT: store [[F]] [[B]]
// CHECK-NOT: field
// CHECK-NOT: store
// CHECK: body load
struct row rows[] = {{"a", first}, {"b", second}, {"c", first}, {"d", second}, {"e", first}};

int load(void) { return rows[0].run(1); }
