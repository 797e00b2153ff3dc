// Memory from an obstack of libc, behind a function of the program.
// Wrong: 'package' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <obstack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

struct package { // CHECK: package [[@LINE]]
  char name[40];
  struct package *next;
};
static struct package *packages;
static struct obstack memory;
static int ready;

static void *forever(size_t size) {
  if (!ready) {
    obstack_init(&memory);
    ready = 1;
  }
  return obstack_alloc(&memory, size);
}

void load(const char *path) {
  char line[40];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct package *p = forever(sizeof *p);
    strcpy(p->name, line);
    p->next = packages;
    packages = p;
  }
  fclose(f);
}
