// The load function receives the program's own reader, opened elsewhere, and reads through its
// functions only.
// Load forms: own reader struct.
// Wrong: nothing; 'reader' or 'source' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct source {
  FILE *file;
  long size;
};
struct reader {
  struct source *source;
  unsigned char buffer[256];
  int at, end, failed;
};

static int readByte(struct reader *r) {
  if (r->at == r->end) {
    r->at = 0;
    r->end = fread(r->buffer, 1, sizeof r->buffer, r->source->file);
    if (!r->end) {
      r->failed = 1;
      return -1;
    }
  }
  return r->buffer[r->at++];
}
static unsigned readWord(struct reader *r) {
  unsigned low = readByte(r);
  return low | (unsigned)readByte(r) << 8;
}

struct sprite { // CHECK: sprite [[@LINE]]
  unsigned width, height;
  unsigned char *bits;
};
static struct sprite *sprites;
static unsigned count;

int load(struct reader *r) {
  unsigned i, j;
  count = readWord(r);
  sprites = calloc(count, sizeof *sprites);
  for (i = 0; i < count && !r->failed; ++i) {
    sprites[i].width = readWord(r);
    sprites[i].height = readWord(r);
    sprites[i].bits = malloc(sprites[i].width * sprites[i].height);
    for (j = 0; j < sprites[i].width * sprites[i].height; ++j)
      sprites[i].bits[j] = readByte(r);
  }
  return r->failed;
}
