// Calls that _FORTIFY_SOURCE has checked: what they write is noted before the call, to the byte.
// RUN: %run %s -w -D_FORTIFY_SOURCE=3 > %t.run
// RUN: FileCheck %s --input-file=%t.run
// CHECK-COUNT-5: 0 faults
// RUN: not grep "noted.*wrote" %t.run
// RUN: %crashes %s -w -D_FORTIFY_SOURCE=3 --level=-O2
// RUN: %ir -O2 -w -D_FORTIFY_SOURCE=3 %s | FileCheck --check-prefix=CALLS %s
// CALLS-DAG: call {{.*}} @__memcpy_chk
// CALLS-DAG: call {{.*}} @__memset_chk
// CALLS-DAG: call {{.*}} @__strcpy_chk
// CALLS-DAG: call {{.*}} @__strcat_chk
// CALLS-DAG: call {{.*}} @__strncpy_chk
// CALLS-DAG: call {{.*}} @__sprintf_chk
// CALLS-DAG: call {{.*}} @__snprintf_chk
// CALLS-DAG: call {{.*}} @__vsnprintf_chk
// CALLS-DAG: call {{.*}} @__swprintf_chk
#include "recorder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { BYTES = 512 };
static volatile size_t three = 3;
static const char *volatile word = "a word";

// Of a size that only the run knows: nothing is known of a call with it.
__attribute__((noinline, alloc_size(2))) static void *part(char *from, size_t size) {
  __asm__("" : "+r"(from));
  return from;
}

static void expect(size_t bytes, const char *what) {
  if (recorder_bytes() != bytes)
    printf("%s: noted %zu bytes, wrote %zu\n", what, recorder_bytes(), bytes);
  recorder_commit();
}

static void copy(char *to) {
  memcpy(to, word, three);
  expect(3, "memcpy");
  memset(to, 'x', 2 * three);
  expect(6, "memset");
  strcpy(to, word);
  expect(7, "strcpy");
  strcat(to, word);
  expect(7, "strcat");
  strncpy(to, word, three);
  expect(3, "strncpy");
}

static void vprint(char *to, size_t size, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(to, size, format, list);
  va_end(list);
}

static void print(char *to) {
  sprintf(to, "%s %d", word, 12345);
  expect(13, "sprintf");
  snprintf(to, 2 * three, "%s", word);
  expect(6, "snprintf");
  vprint(to, 5 * three, "%s", word);
  expect(7, "vsnprintf");
  swprintf((wchar_t *)to, 9 * three, L"%d", 12345);
  expect(108, "swprintf");
}

int main(void) {
  char *text = recorder_map(BYTES);
  volatile size_t size = BYTES;
  copy(part(text, size));
  print(part(text, size));
  return recorder_finish();
}
