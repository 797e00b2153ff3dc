// Where the address of a function that writes is taken, a wrapper stands in for it that notes first: in a table,
// in a variable, as an argument. One that writes nothing and one of the program's own stand for themselves.
// RUN: %ir -O1 %s | FileCheck %s
// RUN: %run %s -DRUN > %t.run
// RUN: FileCheck --check-prefix=EXE %s --input-file=%t.run
// EXE-COUNT-5: recorder: {{[0-9]+}} notes, {{[0-9]+}} bytes, 4 commits, 0 faults
// RUN: not grep "noted.*wrote" %t.run
// RUN: %crashes %s -DRUN --level=-O0 --level=-O2
#include "recorder.h"

#include <stdio.h>
#include <string.h>

typedef void *copier(void *, const void *, size_t);
typedef char *putter(char *, const char *);

__attribute__((noinline)) static void *own(void *to, const void *from, size_t size) {
  ((char *)to)[size - 1] = *(const char *)from;
  return to;
}

// CHECK: @copiers = {{.*}}[3 x ptr] [ptr @__nvmove_safe_memcpy, ptr @__nvmove_safe_memmove, ptr @own]
copier *const copiers[] = {memcpy, memmove, own};
// CHECK: @chosen = {{.*}}ptr @__nvmove_safe_strcpy
putter *volatile chosen = strcpy;
// CHECK: @length = {{.*}}ptr @strlen
size_t (*volatile length)(const char *) = strlen;

// CHECK-LABEL: define {{.*}}@choose(
// CHECK: @__nvmove_safe_stpcpy,
// CHECK: {{^[}]}}
__attribute__((noinline)) putter *choose(int n) { return n ? stpcpy : chosen; }

// A call by its name has no need of one.
// CHECK-LABEL: define {{.*}}@direct(
// CHECK: call {{.*}}@__nvm
// CHECK: call {{.*}}@strcpy(
// CHECK: {{^[}]}}
__attribute__((noinline)) void direct(char *p, const char *text) { strcpy(p, text); }

// CHECK-LABEL: define {{.*}}ptr @__nvmove_safe_memcpy(ptr %0, ptr %1, i64 %2)
// CHECK: call void @__nvm_note_if_persistent(ptr %0, i64 %2)
// CHECK: %[[COPIED:[0-9]+]] = call ptr @memcpy(ptr %0, ptr %1, i64 %2)
// CHECK: ret ptr %[[COPIED]]
// CHECK-LABEL: define {{.*}}ptr @__nvmove_safe_strcpy(ptr %0, ptr %1)
// CHECK: call i64 @strlen(
// CHECK: call void @__nvm_note_if_persistent(ptr %0, i64
// CHECK: call ptr @strcpy(ptr %0, ptr %1)
// CHECK: {{^[}]}}

#ifdef RUN
static void expect(size_t bytes, const char *what) {
  if (recorder_bytes() != bytes)
    printf("%s: noted %zu bytes, wrote %zu\n", what, recorder_bytes(), bytes);
  recorder_commit();
}

int main(void) {
  char *p = recorder_map(256);
  for (int i = 0; i < 3; i++)
    copiers[i](p + 60 * i, "some text", 7 + (size_t)i);
  expect(7 + 8 + 1, "a table");
  choose(0)(p + 200, "a text");
  expect(length("a text") + 1, "a variable");
  choose(1)(p + 61, "another");
  expect(8, "a choice");
  direct(p + 130, "text");
  return recorder_finish();
}
#endif
