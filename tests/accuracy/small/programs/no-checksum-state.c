// A checksum is kept while reading and compared at the end.
// load: load_firmware
// must: segment
// never: crc
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct crc { uint32_t value, table[256]; };
struct segment { uint32_t address, size; unsigned char *data; struct segment *next; };
static struct segment *segments;
static void crc_start(struct crc *c) {
  c->value = ~0u;
  for (uint32_t i = 0; i < 256; i++) {
    c->table[i] = i;
    for (int k = 0; k < 8; k++)
      c->table[i] = c->table[i] & 1 ? c->table[i] >> 1 ^ 0xEDB88320 : c->table[i] >> 1;
  }
}
static void crc_add(struct crc *c, const unsigned char *p, size_t n) {
  while (n--)
    c->value = c->table[(c->value ^ *p++) & 255] ^ c->value >> 8;
}
int load_firmware(FILE *f) {
  struct crc sum;
  uint32_t h[2], want;
  crc_start(&sum);
  while (fread(h, 4, 2, f) == 2 && h[1]) {
    struct segment *s = malloc(sizeof *s);
    s->address = h[0];
    s->size = h[1];
    s->data = malloc(s->size);
    fread(s->data, 1, s->size, f);
    crc_add(&sum, s->data, s->size);
    s->next = segments;
    segments = s;
  }
  return fread(&want, 4, 1, f) == 1 && want == ~sum.value;
}
