// A struct without any name is called by its place, in the table and in the chain.
// RUN: %scan --load load %s -- -std=gnu99 | FileCheck %s
// RUN: %scan --format=json --load load %s -- -std=gnu99 | FileCheck %s --check-prefix=JSON
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// CHECK: (unnamed struct at unnamed-struct.c:12) {{.*}}unnamed-struct.c:12 {{.*}} high
// CHECK: remark: '(unnamed struct at unnamed-struct.c:12)' is persistent
// CHECK: 1 persistent type of 1
// JSON: "name": "(unnamed struct at unnamed-struct.c:12)"
static struct {
  char *key;
  int v;
} *table;
static int n;
void load(FILE *f) {
  char b[80];
  while (fgets(b, sizeof b, f)) {
    table = realloc(table, (n + 1) * sizeof *table);
    table[n++].key = strdup(b);
  }
}
