// Together with the sanitizers, at the levels people use them at: none has anything to say, and what is noted is
// what it was without them.
// RUN: %run %s --level=-O0 --level=-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all | FileCheck %s
// RUN: %run %s --level=-O0 --level=-O2 -g -fsanitize=thread | FileCheck %s
// CHECK-NOT: {{.}}
// CHECK: -O0: recorder: {{[0-9]+}} notes, 52 bytes, 1 commits, 0 faults
// CHECK-NEXT: -O{{[12]}}: recorder: {{[0-9]+}} notes, 52 bytes, 1 commits, 0 faults
// CHECK-NOT: {{.}}
//
// With libnvmove and a pool, killed at each append.
// RUN: %crashes %s -DPOOL --level=-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: %crashes %s -DPOOL --level=-O1 -g -fsanitize=undefined -fno-sanitize-recover=all
// RUN: %crashes %s -DPOOL --level=-O1 -g -fsanitize=thread
// They see what the program does wrong to it.
// RUN: not %crashes %s -DPOOL -DWRONG --level=-O1 -fsanitize=undefined -fno-sanitize-recover=all 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: sanitizers.c:[[@LINE+18]]:{{[0-9]+}}: runtime error: signed integer overflow
#include "recorder.h"

#include <string.h>
#ifdef POOL
#include <pthread.h>
#endif

struct record {
  long n[4];
  char text[20];
  struct record *next;
};
__attribute__((noinline)) void fill(struct record *p, const char *text) {
  for (int i = 0; i < 4; i++)
    p->n[i] = i + p->n[3];
  strncpy(p->text, text, sizeof p->text);
#ifdef WRONG
  p->n[3] = __LONG_MAX__ - 2 + (long)strlen(p->text);
  p->n[2] += p->n[3];
#endif
}

#ifdef POOL
static void *count(void *local) {
  for (int i = 0; i < 1000; i++)
    ++*(int *)local;
  return NULL;
}
int main(void) {
  struct record *p = recorder_map(2 * sizeof *p);
  pthread_t other;
  int counted = 0;
  pthread_create(&other, NULL, count, &counted);
  for (int i = 0; i < 2; i++) {
    fill(p + i, i % 2 ? "text" : "another text");
    p[i].next = i ? p + i - 1 : p;
    memmove(p[i].text + 1, p[i].text, 10);
    recorder_commit();
  }
  pthread_join(other, NULL);
  p->n[0] = counted;
  return recorder_finish();
}
#else
int main(void) {
  fill(recorder_map(sizeof(struct record)), "text");
  return recorder_finish();
}
#endif
