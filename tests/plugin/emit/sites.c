// What writes call notes each of their bytes, whatever their size and wherever in a line they begin; what is noted
// already is found, what crosses a line is noted once more. A length of none notes nothing.
// RUN: %run %s | FileCheck %s
// CHECK-COUNT-5: 0 faults
// RUN: %cc -O1 -I %S/../Inputs -c %s -o %t.o && nm -u %t.o | FileCheck --check-prefix=CALLS %s
// CALLS: __nvm_site{{$}}
// CALLS: __nvm_site_1{{$}}
// CALLS: __nvm_site_12{{$}}
// CALLS: __nvm_site_64{{$}}
#include "recorder.h"

#include <string.h>

// A call asks everything in what is to be small.
#define WRITE(size)                                                                                                    \
  __attribute__((noinline, minsize)) static void write_##size(char *to, int value) {                                   \
    struct bytes {                                                                                                     \
      char byte[size];                                                                                                 \
    } from;                                                                                                            \
    memset(&from, value, sizeof from);                                                                                 \
    *(struct bytes *)to = from;                                                                                        \
  }
#define SIZES(X)                                                                                                       \
  X(1) X(2) X(3) X(4) X(5) X(7) X(8) X(12) X(16) X(17) X(20) X(24) X(32) X(33) X(40) X(48) X(63) X(64) X(65) X(100)
SIZES(WRITE)

__attribute__((noinline, minsize)) static void write_any(char *to, int value, size_t size) { memset(to, value, size); }

enum { LINE = 64 };

#define TWICE(size)                                                                                                    \
  recorder_commit();                                                                                                   \
  write_##size(at, 1);                                                                                                 \
  write_##size(at + LINE, 2);                                                                                          \
  write_##size(at, 3);                                                                                                 \
  write_##size(at + 1, 4);

int main(void) {
  char *base = recorder_map(8 * LINE);
  for (int offset = 0; offset < LINE; offset++) {
    char *at = base + offset;
    SIZES(TWICE)
    for (size_t size = 0; size < 2 * LINE; size++) {
      recorder_commit();
      write_any(at, 5, size);
      write_any(at + LINE - 1, 6, size);
      write_any(at, 7, size);
    }
  }
  return recorder_finish();
}
