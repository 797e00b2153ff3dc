// A new generation is built and swapped in.
// load: reload
// must: route generation
#include <stdio.h>
#include <stdlib.h>
struct route { unsigned net, mask, gateway; };
struct generation { unsigned count; struct route routes[]; };
static struct generation *live;
int reload(const char *path) {
  FILE *f = fopen(path, "r");
  struct generation *next = malloc(sizeof *next), *old;
  unsigned a, b, c;
  if (!f)
    return -1;
  next->count = 0;
  while (fscanf(f, "%x/%x via %x", &a, &b, &c) == 3) {
    next = realloc(next, sizeof *next + (next->count + 1) * sizeof(struct route));
    next->routes[next->count++] = (struct route){a, b, c};
  }
  old = live;
  live = next;
  free(old);
  return fclose(f);
}
