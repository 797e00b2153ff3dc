// A chain of twelve calls without contact to the input, down to the function that opens the file.
// Rule 6: "bound the number of calls without contact to the input (a tuning value, so report when
// it bites)".
// Wrong: an empty answer without a word about the bound.
// RUN: %scan --keep-going -v --load load %s -- > %t.txt 2>&1 || true
// RUN: FileCheck %s < %t.txt
// CHECK: {{bound|without contact|calls in a row|deep}}
#include <stdio.h>
#include <stdlib.h>

struct stamp {
  int value;
};
static struct stamp *stamp;

static void step12(void) {
  FILE *f = fopen("stamp", "rb");
  stamp = malloc(sizeof *stamp);
  fread(stamp, sizeof *stamp, 1, f);
  fclose(f);
}
static void step11(void) { step12(); }
static void step10(void) { step11(); }
static void step9(void) { step10(); }
static void step8(void) { step9(); }
static void step7(void) { step8(); }
static void step6(void) { step7(); }
static void step5(void) { step6(); }
static void step4(void) { step5(); }
static void step3(void) { step4(); }
static void step2(void) { step3(); }
static void step1(void) { step2(); }
void load(void) { step1(); }
