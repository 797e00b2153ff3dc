// What a library compiled by clang writes, described by a file of the user's own: noted before each call, to the
// byte, and restored after each kill.
// RUN: split-file %s %t
// RUN: clang-19 -O2 -c %t/library.c -o %t/library.o
// RUN: %run %t/program.c %t/library.o --nvmove-unsafe=%t/own.unsafe | FileCheck %s
// CHECK-COUNT-5: recorder: {{[0-9]+}} notes, {{[0-9]+}} bytes, 7 commits, 0 faults
// RUN: %run %t/program.c %t/library.o --nvmove-unsafe=%t/own.unsafe | not grep "noted.*wrote"
// RUN: %crashes %t/program.c %t/library.o --nvmove-unsafe=%t/own.unsafe
// RUN: %crashes %t/program.c %t/library.o --nvmove-unsafe=%t/own.unsafe --outside --level=-O2
// A description that is wrong by one byte is found out.
// RUN: not %crashes %t/program.c %t/library.o --nvmove-unsafe=%t/wrong.unsafe --level=-O2 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: pool_recorder: after {{[0-9]+}} commits: neither that state nor the next

//--- own.unsafe
# a comment
put_record={nargs:2,wr_set:{[arg0,#24]}}
put_text={nargs:3,wr_set:{[arg0,min(strlen(arg1)+#1,arg2)]}}
put_each={nargs:3,wr_set:{each(arg0,*arg1:4,#32,[elem+#8,arg2*#4])}}
put_through={nargs:1,wr_set:{[*arg0,#16],[arg0,#8]}}
put_back={nargs:2,wr_set:{[arg0,#8]}}

//--- wrong.unsafe
put_record={nargs:2,wr_set:{[arg0,#23]}}
put_text={nargs:3,wr_set:{[arg0,min(strlen(arg1)+#1,arg2)]}}
put_each={nargs:3,wr_set:{each(arg0,*arg1:4,#32,[elem+#8,arg2*#4])}}
put_through={nargs:1,wr_set:{[*arg0,#16],[arg0,#8]}}
put_back={nargs:2,wr_set:{[arg0,#8]}}

//--- library.h
void put_record(long *record, long value);
void put_text(char *to, const char *text, unsigned long size);
void put_each(char *elements, const int *count, int numbers);
void put_through(long **place);
void put_back(long *to, long (*callback)(long));

//--- library.c
#include "library.h"
void put_record(long *record, long value) {
  for (int i = 0; i < 3; i++)
    record[i] = (value + i) << 56 | value;
}
void put_text(char *to, const char *text, unsigned long size) {
  for (; size; size--)
    if (!(*to++ = *text++))
      break;
}
void put_each(char *elements, const int *count, int numbers) {
  for (int i = 0; i < *count; i++)
    for (int n = 0; n < numbers; n++)
      ((int *)(elements + 32 * i + 8))[n] = 10 * i + n + 1;
}
void put_through(long **place) {
  (*place)[0] = 5, (*place)[1] = 6;
  *place += 2;
}
void put_back(long *to, long (*callback)(long)) { *to = callback(*to); }

//--- program.c
#include "library.h"
#include "recorder.h"
#include <stdio.h>

static long *side;
static void expect(size_t bytes, const char *what) {
  if (recorder_bytes() != bytes)
    printf("%s: noted %zu bytes, wrote %zu\n", what, recorder_bytes(), bytes);
  recorder_commit();
}
static long back(long n) {
  side[8] = n + 1;
  return n + 7;
}

int main(void) {
  char *p = recorder_map(1024);
  int local = 3;
  put_record((long *)(p + 56), 3); // over the end of a line
  expect(24, "put_record");
  put_text(p + 100, "a text that crosses", 50);
  expect(20, "put_text");
  put_text(p + 200, "a text", 3);
  expect(3, "put_text cut");
  put_each(p + 256, &local, 2);
  expect(24, "put_each");
  *(long **)(p + 512) = (long *)(p + 576);
  recorder_commit();
  put_through((long **)(p + 512));
  expect(24, "put_through");
  side = (long *)(p + 640);
  put_back(side, back);
  return recorder_finish();
}
