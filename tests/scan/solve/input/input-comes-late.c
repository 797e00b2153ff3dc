// The open lies deeper than the reader, so that the reader is looked at before the handle has come
// to it: how far it is from the input is decided again when it has.
// Wrong: 'item' missed.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>

struct item { // CHECK: item [[@LINE]]
  struct item *next;
  int number;
};
struct item *items;

static struct item *build4(int number) {
  struct item *made = malloc(sizeof *made);
  made->number = number;
  made->next = items;
  return items = made;
}
static struct item *build3(int number) { return build4(number); }
static struct item *build2(int number) { return build3(number); }
static struct item *build1(int number) { return build2(number); }

static struct item *read2(FILE *f) {
  int number;
  return fscanf(f, "%d", &number) == 1 ? build1(number) : NULL;
}
static struct item *read1(FILE *f) { return read2(f); }

static FILE *open4(const char *path) { return fopen(path, "r"); }
static FILE *open3(const char *path) { return open4(path); }
static FILE *open2(const char *path) { return open3(path); }
static FILE *open1(const char *path) { return open2(path); }

void load(const char *path) {
  FILE *f = open1(path);
  while (read1(f))
    ;
  fclose(f);
}
