// What the published algorithm looks at: variables that are assigned, written by the library, or
// initialised.
// RUN: %scan --emit-facts %s -o %t.nvf --
// RUN: %nvmove facts %t.nvf | FileCheck %s
#include <string.h>
struct a {
  int x;
};
struct b {
  struct a a[2];
  char name[8];
};

// CHECK-LABEL: body field parameters 1
// CHECK-NEXT: assigns struct a @[[#@LINE + 1]]:
void field(struct b *b) { b->a[1].x = 1; }

// CHECK-LABEL: body increment parameters 1
// CHECK-NEXT: assigns struct a @[[#@LINE + 1]]:
void increment(struct a *a) { a->x++; }

// CHECK-LABEL: body library parameters 2
// CHECK-NEXT: assigns struct b by-library @[[#@LINE + 1]]:
void library(struct b *b, const char *from) { memcpy(b, from, sizeof *b); }

// CHECK-LABEL: body text parameters 2
// CHECK-NEXT: assigns struct b by-library @[[#@LINE + 1]]:
void text(struct b *b, const char *from) { strcpy(b->name, from); }

// CHECK-LABEL: body initialise parameters 0
// CHECK-NEXT: assigns struct a by-initialiser @[[#@LINE + 1]]:
int initialise(void) { struct a a = {1}; return a.x; }

// CHECK-LABEL: body readOnly parameters 1
// CHECK-NOT: assigns
// CHECK: return
int readOnly(const struct a *a) { return a->x; }
