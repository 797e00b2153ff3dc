// Contexts and argument vectors that the C library fills are noted, also when the program comes back a second time.
// RUN: %run %s | FileCheck %s
// CHECK-COUNT-5: 0 faults
// RUN: %cc -c --nvmove-warnings=error %s -o %t.o -I %inputs
#include "recorder.h"

#include <argz.h>
#include <stdlib.h>
#include <string.h>
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

static void nothing(int a, int b, int c, int d, int e, int f, int g, int h) {
  (void)(a + b + c + d + e + f + g + h);
}

/// What it writes to a stack ends where the stack ends.
static void make(ucontext_t *made, char *stack, size_t size) {
  made->uc_stack.ss_sp = stack;
  made->uc_stack.ss_size = size;
  makecontext(made, (void (*)(void))nothing, 8, 1, 2, 3, 4, 5, 6, 7, 8);
}

int main(void) {
  here = recorder_map(4096);
  ucontext_t *made = recorder_map(3 * 4096);
  char *stack = (char *)made + 4096;
  char **vector = recorder_map(4096);
  size_t *length = recorder_map(4096);
  int failed = getcontext(here) || recorder_commit();
  failed |= go() || visits != 1;
  failed |= getcontext(made);
  for (size_t odd = 0; odd < 16; odd++) {
    memset(stack, 0, 8192);
    failed |= recorder_commit();
    make(made, stack, 4096 + odd);
    for (size_t i = 4096 + odd; i < 8192; i++)
      failed |= stack[i] != 0;
  }
  failed |= argz_create_sep("a:b", ':', vector, length) != 0 || *length != 4;
  free(*vector);
  char *words[] = {"one", "two", NULL};
  failed |= argz_create(words, vector, length) != 0 || *length != 8;
  free(*vector);
  return recorder_finish() || failed;
}
