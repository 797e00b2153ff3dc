// Two tables of functions with equal signatures; which one a call uses is known by the field.
// Rule 1: "resolve indirect calls by field flow first, else by exact signature".
// Wrong: 'theme' reported (same signature as the decoders, but stored in another field).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct packet { // CHECK: packet [[@LINE]]
  int size;
  struct packet *next;
};
struct theme {
  int colors;
  struct theme *next;
};
static struct packet *packets;
static struct theme *themes;

static void decodePlain(FILE *f, int size) {
  struct packet *p = malloc(sizeof *p);
  p->size = size;
  p->next = packets;
  packets = p;
  fseek(f, size, SEEK_CUR);
}
static void decodePacked(FILE *f, int size) { decodePlain(f, size / 2); }
static void drawTheme(FILE *f, int colors) {
  struct theme *t = malloc(sizeof *t);
  t->colors = colors;
  t->next = themes;
  themes = t;
  fprintf(f, "%d\n", colors);
}

struct decoder {
  int kind;
  void (*decode)(FILE *f, int size);
};
struct painter {
  const char *name;
  void (*draw)(FILE *f, int colors);
};
static struct decoder decoders[] = {{0, decodePlain}, {1, decodePacked}};
static struct painter painters[] = {{"theme", drawTheme}};

void paint(void) { painters[0].draw(stdout, 16); }

int load(const char *path) {
  int kind, size;
  unsigned i;
  FILE *f = fopen(path, "rb");
  while (fread(&kind, sizeof kind, 1, f) == 1 && fread(&size, sizeof size, 1, f) == 1)
    for (i = 0; i < 2; ++i)
      if (decoders[i].kind == kind)
        decoders[i].decode(f, size);
  fclose(f);
  return 0;
}
