// Errors leave by longjmp.
// load: load_level
// must: tile sprite
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
struct tile { unsigned char kind, light; };
struct sprite { int x, y; struct sprite *next; };
static struct tile *map;
static struct sprite *sprites;
static jmp_buf bad;
static int byte(FILE *f) {
  int c = getc(f);
  if (c == EOF)
    longjmp(bad, 1);
  return c;
}
static void load_tiles(FILE *f, int w, int h) {
  map = malloc(sizeof(struct tile) * w * h);
  for (int i = 0; i < w * h; i++) {
    map[i].kind = byte(f);
    map[i].light = byte(f);
  }
}
static void load_sprite(FILE *f) {
  struct sprite *s = malloc(sizeof *s);
  s->x = byte(f);
  s->y = byte(f);
  s->next = sprites;
  sprites = s;
}
int load_level(const char *p) {
  FILE *volatile f = fopen(p, "rb");
  if (setjmp(bad)) {
    fclose(f);
    return -1;
  }
  int w = byte(f), h = byte(f);
  load_tiles(f, w, h);
  for (int n = byte(f); n; n--)
    load_sprite(f);
  return fclose(f);
}
