// Strings with a length header in front of the bytes that the program holds a pointer to: the header
// type exists only in casts inside macros.
// FINDINGS: "a char * whose header exists only in casts inside macros".
// Wrong: 'header' missed, or 'shortHeader' reported for memory it never views.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *text;
struct __attribute__((packed)) header { // CHECK: header [[@LINE]]
  unsigned length, capacity;
  char bytes[];
};
struct __attribute__((packed)) shortHeader {
  unsigned char length;
  char bytes[];
};
#define HEADER(T, s) ((struct T *)((s) - sizeof(struct T)))

static text textNew(const void *from, size_t n) {
  char *memory = malloc(sizeof(struct header) + n + 1);
  text s = memory + sizeof(struct header);
  HEADER(header, s)->length = n;
  HEADER(header, s)->capacity = n;
  memcpy(s, from, n);
  s[n] = 0;
  return s;
}
int shortLength(text s) { return HEADER(shortHeader, s)->length; }

static text *names;
static size_t count;

int load(const char *path) {
  char line[256];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    names = realloc(names, (count + 1) * sizeof(text));
    names[count++] = textNew(line, strlen(line));
  }
  fclose(f);
  return 0;
}
