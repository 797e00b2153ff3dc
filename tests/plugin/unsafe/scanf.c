// What a scanf stores is noted to the byte where only the run knows its format or its arguments, too.
// RUN: %run %s -w > %t.run
// RUN: FileCheck %s --input-file=%t.run
// CHECK-COUNT-5: 0 faults
// RUN: not grep "noted.*wrote" %t.run
// RUN: %run %s -w -std=gnu89 -D_GNU_SOURCE -DOLD --level=-O0 --level=-O2 > %t.run1
// RUN: FileCheck --check-prefix=OLD %s --input-file=%t.run1
// RUN: not grep "noted.*wrote" %t.run1
// OLD-COUNT-2: 0 faults
// RUN: %crashes %s -w -DCRASHES --level=-O0 --level=-O2
#include "recorder.h"

#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static char *text; // 4096 bytes in the range
static int *i;
static double *d;

static void expect(size_t bytes, const char *what) {
  if (recorder_bytes() != bytes)
    printf("%s: noted %zu bytes, wrote %zu\n", what, recorder_bytes(), bytes);
  recorder_commit();
}

// Nobody sees through it: the format is not known before the program runs.
static const void *unknown(const void *format) {
  const void *volatile hidden = format;
  return hidden;
}

static int narrow(const char *input, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int found = vsscanf(input, format, list);
  va_end(list);
  return found;
}

static int wide(const wchar_t *input, const wchar_t *format, ...) {
  va_list list;
  va_start(list, format);
  int found = vswscanf(input, format, list);
  va_end(list);
  return found;
}

static FILE *stream(const char *input) {
  FILE *f = tmpfile();
  fputs(input, f);
  rewind(f);
  return f;
}

static int from_stream(const char *input, const char *format, ...) {
  FILE *f = stream(input);
  va_list list;
  va_start(list, format);
  int found = vfscanf(f, format, list);
  va_end(list);
  fclose(f);
  return found;
}

static int from_wide_stream(const char *input, const wchar_t *format, ...) {
  FILE *f = stream(input);
  va_list list;
  va_start(list, format);
  int found = vfwscanf(f, format, list);
  va_end(list);
  fclose(f);
  return found;
}

static int from_stdin(const char *input, const char *format, ...) {
  FILE *before = stdin;
  stdin = stream(input);
  va_list list;
  va_start(list, format);
  int found = vscanf(format, list);
  va_end(list);
  fclose(stdin);
  stdin = before;
  return found;
}

static int from_wide_stdin(const char *input, const wchar_t *format, ...) {
  FILE *before = stdin;
  stdin = stream(input);
  va_list list;
  va_start(list, format);
  int found = vwscanf(format, list);
  va_end(list);
  fclose(stdin);
  stdin = before;
  return found;
}

static void lists(void) {
  char local[20];
  narrow("12 2.5 word x", "%d %lf %15s %c", i, d, text + 16, text + 40);
  expect(4 + 8 + 16 + 1, "vsscanf");
  narrow("some more", "%s %*s%n", text, i + 10);
  expect(10 + 4, "vsscanf unbounded");
  narrow("17 here", "%d %s", i, local);
  expect(4, "vsscanf, one of them volatile");
  from_stream("13 abc", "%ld %3[a-c%]", text, text + 30);
  expect(8 + 4, "vfscanf");
  from_stdin("77", "%hd", text);
  expect(2, "vscanf");
  wide(L"18 word 4", L"%d %4s %lld", i, text + 8, text + 40);
  expect(4 + 4 * 6 + 1 + 8, "vswscanf");
  wide(L"text", L"%ls", text);
  expect(20, "vswscanf unbounded");
  from_wide_stream("19 \303\244\303\266", L"%d %2ls", i, text + 16);
  expect(4 + 12, "vfwscanf");
  from_wide_stdin("21 \303\244\303\266", L"%d %2s", i, text + 16);
  expect(4 + 13, "vwscanf");
}

static void formats(void) {
  FILE *f = stream("8 seven 6");
  fscanf(f, unknown("%hhd %7s %i"), text, text + 1, text + 12);
  expect(1 + 8 + 4, "fscanf");
  fclose(f);
  sscanf("12 2.5 word x", unknown("%d %lf %s"), i, d, text + 16);
  expect(4 + 8 + 14, "sscanf");
  int n;
  swscanf(L"5 6", L"%d %d", i, &n);
  expect(4, "swscanf");
  sscanf("5 6", unknown("%d %d"), &n, &n);
  expect(0, "sscanf of what does not persist");
}

// Conversions of all kinds, by each of the two walks.
#define BOTH(bytes, input, format, ...)                                                            \
  do {                                                                                             \
    memset(text, 0, 256);                                                                          \
    recorder_commit();                                                                             \
    sscanf(input, format, __VA_ARGS__);                                                            \
    expect(bytes, format);                                                                         \
    memset(text, 0, 256);                                                                          \
    recorder_commit();                                                                             \
    sscanf(input, unknown(format), __VA_ARGS__);                                                   \
    expect(bytes, "at run time: " format);                                                         \
  } while (0)

static void kinds(void) {
  BOTH(8 + 4, "1 2", "%2$d %1$ld", text, text + 8);
  BOTH(16 + 16, "1.5 2.5", "%Lf %llf", text, text + 16);
  BOTH(8 + 8 + 8 + 8, "1 2 3 4", "%jd %zu %td %qd", text, text + 8, text + 16, text + 24);
  BOTH(4 + 4, "1.5 0x1p3", "%f%a", text, text + 8);
  BOTH(8, "0x10", "%p", text);
  BOTH(4 + 2, "100% ab", "%i%% %2c", text, text + 8);
  BOTH(5 + 1, "a]-b 5", "%4[]a-z-] %hhn", text, text + 8);
  BOTH(12 + 4, "abc", "%2ls%lc", text, text + 16);
  BOTH(8 + 4, "12345", "%*1d%2C%'d", text, text + 16);
  BOTH(4, "12", "%d %y %d", text, text + 8);
  BOTH(12, "ab", "%zs", text);
#ifndef CRASHES // addresses differ from run to run
  BOTH(8, "word", "%ms", text);
  BOTH(8, "word", "%m[a-z]", text);
  BOTH(8, "word", "%mls", text);
#ifdef OLD
  BOTH(8 + 4, "word 7", "%as %d", text, text + 8);
#endif
#endif
}

// A wrapper stands in where the address is taken.
static int (*volatile chosen)(const char *, const char *, va_list) = vsscanf;
static void pointer(const char *format, ...) {
  va_list list;
  va_start(list, format);
  chosen("23", format, list);
  va_end(list);
  expect(4, "vsscanf through a pointer");
}

int main(void) {
  setlocale(LC_ALL, "C.UTF-8");
  text = recorder_map(4096);
  i = (int *)text;
  d = (double *)(text + 8);
  lists();
  formats();
  kinds();
  pointer("%d", i);
  return recorder_finish();
}
