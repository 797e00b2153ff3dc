// Chunks with a four-letter name, each decoded by its handler from a buffer in memory.
// load: pic_open
// must: pic text
// never: chunk
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct text { char *key, *value; struct text *next; };
struct pic { uint32_t w, h; uint8_t depth; uint32_t palette[256]; int ncolors; uint8_t *pixels; struct text *texts; };
struct chunk { uint32_t len; char id[5]; uint8_t *data; };
static uint32_t be32(const uint8_t *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }
static int on_ihdr(struct pic *p, const struct chunk *c) {
  if (c->len < 9)
    return -1;
  p->w = be32(c->data);
  p->h = be32(c->data + 4);
  p->depth = c->data[8];
  return 0;
}
static int on_plte(struct pic *p, const struct chunk *c) {
  for (uint32_t i = 0; i + 2 < c->len && p->ncolors < 256; i += 3)
    p->palette[p->ncolors++] = c->data[i] << 16 | c->data[i + 1] << 8 | c->data[i + 2];
  return 0;
}
static int on_text(struct pic *p, const struct chunk *c) {
  const uint8_t *nul = memchr(c->data, 0, c->len);
  if (!nul)
    return 0;
  struct text *t = malloc(sizeof(*t));
  t->key = strdup((const char *)c->data);
  t->value = strndup((const char *)nul + 1, c->len - (nul + 1 - c->data));
  t->next = p->texts;
  p->texts = t;
  return 0;
}
static int on_idat(struct pic *p, const struct chunk *c) {
  p->pixels = malloc(c->len);
  memcpy(p->pixels, c->data, c->len);
  return 0;
}
static const struct { char id[5]; int (*fn)(struct pic *, const struct chunk *); } handlers[] = {
    {"IHDR", on_ihdr}, {"PLTE", on_plte}, {"tEXt", on_text}, {"IDAT", on_idat}};
static int next_chunk(FILE *f, struct chunk *c) {
  uint8_t head[8];
  if (fread(head, 1, 8, f) != 8)
    return 0;
  c->len = be32(head);
  memcpy(c->id, head + 4, 4);
  c->id[4] = 0;
  c->data = malloc(c->len + 1);
  return c->data && fread(c->data, 1, c->len, f) == c->len;
}
struct pic *pic_open(const char *path) {
  FILE *f = fopen(path, "rb");
  struct pic *p;
  struct chunk c;
  if (!f || !(p = calloc(1, sizeof *p)))
    return NULL;
  while (next_chunk(f, &c)) {
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
      if (!memcmp(handlers[i].id, c.id, 4) && handlers[i].fn(p, &c))
        break;
    free(c.data);
  }
  fclose(f);
  return p;
}
