// A type may be called by its tag, with and without "struct", or as the table calls it. Of a type that
// only stands for older memory the functions that would make one are named.
// RUN: %scan -q --load load --why-not "struct acct,acct,account,struct note,_IO_FILE" %s -- -std=c99 | FileCheck %s
// RUN: %scan --load load %s -- -std=c99 | FileCheck %s --check-prefix=CHAIN
#include <stdio.h>
#include <stdlib.h>

// CHECK: note: 'acct' is left behind
// CHECK: note: 'acct' is left behind
// CHECK: note: 'account' is left behind
// CHECK: note: 'note': {{.*}} existed before the load receives input in too few
// CHECK: note: 'note': not visited, but naming its size: 'add_note'; was one of them meant to be part of the load?
// CHECK: note: '_IO_FILE' is defined by the system's headers; such types are not reported
// CHAIN: remark: 'struct acct' is persistent
// CHAIN: why-not-names.c:[[#@LINE+14]]:{{.*}}: note: input is stored in 'v' of a 'struct acct'
typedef struct acct {
  struct acct *next;
  int v;
} account;
struct note {
  struct note *next;
  int seen;
};
account *all;
struct note *notes;
void add_note(void) { notes = malloc(sizeof *notes); }
void load(FILE *f) {
  account *a = malloc(sizeof *a);
  a->v = fgetc(f);
  a->next = all;
  all = a;
  if (notes)
    notes->seen = 1;
}
