// Calls of pre-compiled functions: what they write is noted before the call, to the byte.
// RUN: %run %s -w > %t.run
// RUN: FileCheck %s --input-file=%t.run
// CHECK-COUNT-5: 0 faults
// RUN: not grep "noted.*wrote" %t.run
// RUN: %crashes %s -w -DCRASHES --level=-O0 --level=-O2
// RUN: %crashes %s -w -DCRASHES --level=-O2 --outside
#define _GNU_SOURCE // hsearch_r
#include "recorder.h"

#include <poll.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static char *text; // 4096 bytes in the range
static const char *volatile word = "a word";
static volatile size_t three = 3;

static void expect(size_t bytes, const char *what) {
  if (recorder_bytes() != bytes)
    printf("%s: noted %zu bytes, wrote %zu\n", what, recorder_bytes(), bytes);
  recorder_commit();
}

static void strings(void) {
  strcpy(text, word);
  expect(7, "strcpy");
  strcat(text, word);
  expect(7, "strcat");
  strncpy(text, word, three);
  expect(3, "strncpy");
  strncat(text, word, three);
  expect(4, "strncat");
  stpcpy(text, word);
  expect(7, "stpcpy");
  memcpy(text, word, three);
  expect(3, "memcpy");
  wcscpy((wchar_t *)text, L"wide");
  expect(20, "wcscpy");
}

static void vprint(char *to, size_t size, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(to, size, format, list);
  va_end(list);
}

static void printing(void) {
  sprintf(text, "%s %d", word, 12345);
  expect(13, "sprintf");
  snprintf(text, 5, "%s", word);
  expect(5, "snprintf cut");
  snprintf(text, 50, "%s %g", word, 2.5);
  expect(11, "snprintf");
  vprint(text, 50, "%s-%c", word, 'x');
  expect(9, "vsnprintf");
  char local[40];
  sprintf(local, "%s%hhn", word, text);
  expect(1, "%n");
  sprintf(local, "%2$s%1$hhn", text, word);
  expect(1, "%1$n");
  sprintf(local, "%2$*4$.*3$d%%%5$m%1$hn%1$n", text, 12, 2, 10, 0);
  expect(4, "%1$n behind widths");
  sprintf(local, "%*d%hn", 3, 12, (short *)text);
  expect(2, "%n behind a width");
}

static void scanning(void) {
  int *i = (int *)text;
  double *d = (double *)(text + 8);
  sscanf("12 2.5 word x", "%d %lf %15s %c", i, d, text + 16, text + 40);
  expect(4 + 8 + 16 + 1, "sscanf");
  sscanf("some", "%s", text);
  expect(5, "sscanf unbounded");
  char *end = NULL;
  *(long *)(text + 64) = strtol("77x", (char **)(text + 8), 10);
  expect(16, "strtol");
  (void)end;
}

static void files(void) {
  char path[] = "/tmp/nvmove-test-XXXXXX";
  int fd = mkstemp(path);
  unlink(path);
  pwrite(fd, "some\nlines\nof text\n", 19, 0);
  read(fd, text, 4);
  expect(4, "read");
  struct iovec parts[2] = {{text, 3}, {text + 100, 5}};
  preadv(fd, parts, 2, 0);
  expect(8, "preadv");
  FILE *f = fdopen(fd, "r");
  rewind(f);
  fgets(text, 20, f);
  expect(20, "fgets");
  fread(text + 10, 2, 3, f);
  expect(6, "fread");
  char *line = NULL;
  size_t *size = (size_t *)text;
  *size = 0;
  recorder_commit();
  getline(&line, size, f);
  expect(8, "getline");
#ifndef CRASHES // what these write differs from run to run
  fstat(fd, (struct stat *)text);
  expect(sizeof(struct stat), "fstat");
#endif
  fclose(f);
}

static int backwards(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

static void various(void) {
  int *numbers = (int *)text;
  for (int i = 0; i < 10; i++)
    numbers[i] = i;
  recorder_commit();
  qsort(numbers, 10, sizeof *numbers, backwards);
  expect(40, "qsort");
#ifndef CRASHES
  time((time_t *)text);
  expect(8, "time");
  struct hsearch_data *keys = (struct hsearch_data *)(text + 8);
  memset(keys, 0, sizeof *keys);
  recorder_commit();
  hcreate_r(4, keys);
  expect(16, "hcreate_r");
  hsearch_r((ENTRY){"key", NULL}, ENTER, (ENTRY **)text, keys);
  expect(24, "hsearch_r");
#endif
  time(NULL);
  time_t now = 0;
  gmtime_r(&now, (struct tm *)text);
  expect(sizeof(struct tm), "gmtime_r");
  memset(text, 0, 64);
  recorder_commit();
  poll((struct pollfd *)text, 2, 0);
  expect(4, "poll");
  strcpy(text, "a,b");
  recorder_commit();
  char *save;
  strtok_r(text, ",", &save);
  expect(3, "strtok_r");
  strtok_r(NULL, ",", &save);
  recorder_commit();
  getcwd(text, 500);
  expect(500, "getcwd");
}

// A wrapper stands in where the address is taken.
typedef void *copier(void *, const void *, size_t);
static copier *const table[] = {memcpy, memmove};
static copier *volatile chosen = memcpy;
static void pointers(void) {
  chosen(text, word, 5);
  expect(5, "memcpy through a pointer");
  table[three - 2](text, word, 4);
  expect(4, "memmove through a table");
}

int main(void) {
  text = recorder_map(4096);
  strings();
  printing();
  scanning();
  files();
  various();
  pointers();
  return recorder_finish();
}
