// Contexts and argument vectors that the C library fills are noted, also when the program comes back a second time.
// RUN: %run %s | FileCheck %s
// CHECK-COUNT-5: 0 faults
// RUN: %cc -c -Werror %s -o %t.o -I %inputs
#include "recorder.h"

#include <argz.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t *here;
static int visits;

static void visit(void) {
  visits++;
  recorder_commit();
  setcontext(here);
}

static int go(void) {
  static char stack[1 << 16];
  ucontext_t there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = NULL;
  makecontext(&there, visit, 0);
  return swapcontext(here, &there);
}

int main(void) {
  here = recorder_map(4096);
  char **vector = recorder_map(4096);
  size_t *length = recorder_map(4096);
  int failed = getcontext(here) || recorder_commit();
  failed |= go() || visits != 1;
  failed |= argz_create_sep("a:b", ':', vector, length) != 0 || *length != 4;
  free(*vector);
  char *words[] = {"one", "two", NULL};
  failed |= argz_create(words, vector, length) != 0 || *length != 8;
  free(*vector);
  return recorder_finish() || failed;
}
