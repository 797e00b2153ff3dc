// The load function receives a FILE * and a memory buffer to use.
// Load forms: FILE *.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct key { // CHECK: key [[@LINE]]
  char text[16];
  unsigned hash;
};
struct scratch {
  char line[256];
  unsigned length;
};
static struct key *keys[64];

int load(FILE *f, struct scratch *s) {
  int i = 0;
  while (i < 64 && fgets(s->line, sizeof s->line, f)) {
    struct key *k = malloc(sizeof *k);
    for (s->length = 0; s->length < 15 && s->line[s->length] > ' '; ++s->length) {
      k->text[s->length] = s->line[s->length];
      k->hash = k->hash * 31 + s->line[s->length];
    }
    keys[i++] = k;
  }
  return 0;
}
