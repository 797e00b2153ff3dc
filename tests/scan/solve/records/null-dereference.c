// A null pointer constant is dereferenced: to crash on purpose, to take a size or an offset, and in
// code that was made for a processor with vectors at address 0.
// Never a crash of the tool itself.
// Wrong: 'item' missed, or the end of nvmove.
// RUN: %scan --format=json --load load %s -- | %types
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*handler)(void);
struct vectors {
  handler reset, fault;
};
struct item { // CHECK: item [[@LINE]]
  int key;
  handler changed;
  struct item *next;
};
static struct item *items;
static void none(void) {}

static void crash(int key) {
  if (key == 1)
    *(volatile int *)0 = key;
  if (key == 2)
    (*(handler *)0)();
  if (key == 3)
    *(handler *)0 = none;
  if (key == 4)
    ((struct vectors *)0)->fault = ((struct vectors *)0)->reset;
  if (key == 5)
    *(struct vectors *)0 = *(struct vectors *)NULL;
}

int load(FILE *f) {
  int key;
  while (fread(&key, sizeof(((struct item *)0)->key), 1, f) == 1) {
    struct item *i = malloc(sizeof *i);
    i->key = key;
    i->changed = key ? none : *(handler *)0;
    i->next = items;
    items = i;
    crash(key);
  }
  return offsetof(struct item, next) == (size_t)&((struct item *)0)->next;
}
