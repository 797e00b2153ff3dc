// Static initialisers are the nameless first body: tables of functions, nested records, pointers
// between globals.
// Wrong: an entry of a table lost, or every entry at offset 0.
// RUN: %scan --emit-facts %s -o %t.nvf --
// RUN: %nvmove facts %t.nvf | FileCheck %s
struct command {
  const char *name;
  struct {
    int (*run)(int);
    int flags;
  } action;
};
static int add(int a) { return a + 1; }
static int drop(int a) { return a - 1; }

// CHECK-LABEL: body (static initialisers) parameters 0
// CHECK: [[T:r[0-9]+]] = address commands
// CHECK: = address add
// CHECK: store
// CHECK: = address drop
// CHECK: store
// CHECK: [[F:r[0-9]+]] = address first
// CHECK: store [[F]]
// CHECK-LABEL: body add
const struct command commands[] = {{"add", {add, 1}}, {"drop", {.flags = 2, .run = drop}}};
const struct command *first = &commands[0];
