// Together with the sanitizers, at the levels people use them at.
// RUN: %run %s --level=-O0 --level=-O1 -g -fsanitize=address,undefined | FileCheck %s
// RUN: %run %s --level=-O0 --level=-O2 -g -fsanitize=thread | FileCheck %s
// CHECK-COUNT-2: recorder: {{[0-9]+}} notes, 52 bytes, 1 commits, 0 faults
#include "recorder.h"

#include <string.h>

struct record {
  long n[4];
  char text[20];
};
__attribute__((noinline)) void fill(struct record *p, const char *text) {
  for (int i = 0; i < 4; i++)
    p->n[i] = i + p->n[3];
  strncpy(p->text, text, sizeof p->text);
}
int main(void) {
  fill(recorder_map(sizeof(struct record)), "text");
  return recorder_finish();
}
