// Run-length packed data goes through a decoder with static window and state.
// load: sprites_load
// must: sprite
// never: unpacker
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct sprite { uint16_t w, h; uint8_t *px; };
struct unpacker { FILE *f; uint8_t window[256]; unsigned at, run; int byte; };
static struct unpacker *up;
static struct sprite sprites[64];
static int nsprites;
static void unpack_start(FILE *f) {
  if (!up)
    up = malloc(sizeof *up);
  up->f = f;
  up->at = up->run = 0;
}
static int unpack(void) {
  if (!up->run) {
    int c = fgetc(up->f);
    if (c == EOF)
      return -1;
    up->run = (c >> 6) + 1;
    up->byte = c & 63;
  }
  up->run--;
  up->window[up->at++ & 255] = (uint8_t)up->byte;
  return up->byte;
}
static unsigned unpack16(void) {
  unsigned lo = unpack() & 255;
  return lo | (unsigned)(unpack() & 255) << 8;
}
int sprites_load(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return -1;
  unpack_start(f);
  int n = unpack();
  for (nsprites = 0; nsprites < n && nsprites < 64; nsprites++) {
    struct sprite *s = &sprites[nsprites];
    s->w = (uint16_t)unpack16();
    s->h = (uint16_t)unpack16();
    s->px = malloc((size_t)s->w * s->h);
    for (int i = 0; i < s->w * s->h; i++)
      s->px[i] = (uint8_t)unpack();
  }
  fclose(f);
  up->f = NULL;
  return nsprites;
}
