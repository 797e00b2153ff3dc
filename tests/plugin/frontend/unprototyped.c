// What a pre-compiled function writes is noted also where the program declares it without a
// prototype, or not at all: then the call has another type than the function.
// RUN: %run %s -std=gnu89 -w | FileCheck %s
// CHECK-COUNT-5: 0 faults
// RUN: %cc -std=gnu89 -O1 -I %inputs -c %s -o /dev/null -DTOO_FEW 2>&1 | FileCheck --check-prefix=FEW %s
#include "recorder.h"

int pipe(), read(), write();
char *getcwd();

#ifdef TOO_FEW
// FEW: warning: 'getcwd' is called with 1 arguments, its .unsafe entry has 2
void few(char *text) { getcwd(text); }
#endif

int main(void) {
  char *text = recorder_map(4096);
  int *ends = (int *)text;
  pipe(ends);
  write(ends[1], "text", (size_t)4);
  read(ends[0], text + 8, (size_t)4);
  getcwd(text + 100, (size_t)1000);
  gettimeofday(text + 2000, (void *)0);
  return recorder_finish();
}
