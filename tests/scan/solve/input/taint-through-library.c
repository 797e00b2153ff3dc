// A library reads: it is given the handle and fills what it is given, or hands out pieces.
// Rule 3: "an external that receives the handle taints its non-const outputs; a void * output marks
// the whole object as filled".
// Wrong: 'pixel' missed; 'format' (given as const) or 'decoder' (opaque machinery) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

typedef struct lib_decoder lib_decoder;
lib_decoder *lib_decoder_open(FILE *f);
int lib_decoder_size(lib_decoder *d, int *width, int *height);
int lib_decoder_row(lib_decoder *d, void *row, const void *format);
void lib_decoder_close(lib_decoder *d);

struct pixel { // CHECK: pixel [[@LINE]]
  unsigned char red, green, blue, alpha;
};
struct format {
  int depth, channels;
};
struct decoder {
  lib_decoder *handle;
};
static struct pixel *picture;
static int width, height;

static struct format *wanted;
void setUp(void) {
  wanted = malloc(sizeof *wanted);
  wanted->depth = 8;
  wanted->channels = 4;
}

int load(const char *path) {
  struct decoder d;
  int y;
  FILE *f = fopen(path, "rb");
  d.handle = lib_decoder_open(f);
  lib_decoder_size(d.handle, &width, &height);
  picture = malloc(width * height * sizeof *picture);
  for (y = 0; y < height; ++y)
    lib_decoder_row(d.handle, picture + y * width, wanted);
  lib_decoder_close(d.handle);
  fclose(f);
  return 0;
}
