// The file is read into a buffer; records are copied out of it with memcpy by their size.
// Design 2: bulk reads build an object, also by way of a buffer.
// Wrong: 'track' missed; 'header' (a view of the buffer on the stack) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct header {
  uint32_t magic, tracks;
};
struct track { // CHECK: track [[@LINE]]
  uint32_t start, length;
  char title[24];
};
static struct track *album[99];
static unsigned count;

int load(const char *path) {
  unsigned char buffer[4096];
  const struct header *h = (const struct header *)buffer;
  const unsigned char *at = buffer + sizeof *h;
  FILE *f = fopen(path, "rb");
  fread(buffer, 1, sizeof buffer, f);
  fclose(f);
  if (h->magic != 0x616c626d)
    return -1;
  while (count < h->tracks && count < 99) {
    struct track *t = malloc(sizeof *t);
    memcpy(t, at, sizeof *t);
    at += sizeof *t;
    album[count++] = t;
  }
  return 0;
}
