// A table of byte slots: the pointers are copied in and out of it with memcpy.
// Pointers that travel as bytes.
// Wrong: 'actor' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct actor { // CHECK: actor [[@LINE]]
  int id;
};
struct slots { // CHECK: slots [[@LINE]]
  unsigned char *bytes;
  size_t used, width;
};
static struct slots *cast;

static void slotsAdd(struct slots *s, const void *value) {
  memcpy(s->bytes + s->used * s->width, value, s->width);
  ++s->used;
}

int load(FILE *f) {
  int id;
  cast = malloc(sizeof *cast);
  cast->width = sizeof(struct actor *);
  cast->used = 0;
  cast->bytes = malloc(64 * cast->width);
  while (cast->used < 64 && fread(&id, sizeof id, 1, f) == 1) {
    struct actor *a = malloc(sizeof *a);
    a->id = id;
    slotsAdd(cast, &a);
  }
  return 0;
}
