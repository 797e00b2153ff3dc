// One function that allocates, resizes and frees, as the hook of a library: (user data, old
// pointer, old size, new size).
// Allocation wrappers: realloc-like; called through a pointer in a structure.
// Wrong: 'value' or 'stack' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

typedef void *(*alloc_function)(void *user, void *old, size_t oldSize, size_t newSize);
static void *defaultAlloc(void *user, void *old, size_t oldSize, size_t newSize) {
  (void)user, (void)oldSize;
  if (newSize == 0) {
    free(old);
    return NULL;
  }
  return realloc(old, newSize);
}
struct value { // CHECK: value [[@LINE]]
  int kind;
  double number;
};
struct stack { // CHECK: stack [[@LINE]]
  struct value *values;
  size_t used, room;
};
struct machine { // either
  alloc_function alloc;
  void *user;
  struct stack *stack;
};
static struct machine machine = {defaultAlloc, NULL, NULL};

static void *resize(struct machine *m, void *old, size_t from, size_t to) {
  return m->alloc(m->user, old, from, to);
}

int load(const char *path) {
  double number;
  struct stack *s = resize(&machine, NULL, 0, sizeof *s);
  FILE *f = fopen(path, "rb");
  s->values = NULL;
  s->used = s->room = 0;
  while (fread(&number, sizeof number, 1, f) == 1) {
    if (s->used == s->room) {
      s->values = resize(&machine, s->values, s->room * sizeof(struct value),
                         (s->room + 8) * sizeof(struct value));
      s->room += 8;
    }
    s->values[s->used].kind = 1;
    s->values[s->used++].number = number;
  }
  machine.stack = s;
  fclose(f);
  return 0;
}
