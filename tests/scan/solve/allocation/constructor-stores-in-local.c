// A constructor without contact to the input hands its object out through the address of a local.
// Wrong: 'host' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host { // CHECK: host [[@LINE]]
  char name[32];
  struct host *next;
};
static struct host *hosts;

static int hostAllocate(struct host **result) {
  struct host *made = calloc(1, sizeof *made);
  if (!made)
    return -1;
  *result = made;
  return 0;
}

int load(const char *path) {
  char line[32];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct host *h = NULL;
    if (hostAllocate(&h))
      break;
    strcpy(h->name, line);
    h->next = hosts;
    hosts = h;
  }
  fclose(f);
  return 0;
}
