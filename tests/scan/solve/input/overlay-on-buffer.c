// Structures of the file format are laid over a heap buffer that is freed; over a mapping that is
// unmapped.
// FINDINGS: decode records fall away by themselves.
// Wrong: 'diskHeader' or 'diskGlyph' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct diskHeader {
  uint16_t version, glyphs;
};
struct diskGlyph {
  uint16_t code;
  uint8_t width, rows[8];
};
struct glyph { // CHECK: glyph [[@LINE]]
  int code, width;
  unsigned bits[8];
};
static struct glyph *font[256];

static void convert(const struct diskGlyph *d) {
  struct glyph *g = malloc(sizeof *g);
  int i;
  g->code = d->code;
  g->width = d->width;
  for (i = 0; i < 8; ++i)
    g->bits[i] = d->rows[i];
  font[g->code & 255] = g;
}
static void convertAll(const void *file) {
  const struct diskHeader *h = file;
  const struct diskGlyph *d = (const struct diskGlyph *)(h + 1);
  int i;
  for (i = 0; i < h->glyphs; ++i)
    convert(d + i);
}

int load(const char *path) {
  int fd = open(path, O_RDONLY);
  size_t size = lseek(fd, 0, SEEK_END);
  void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at != MAP_FAILED) {
    convertAll(at);
    munmap(at, size);
  } else {
    void *copy = malloc(size);
    pread(fd, copy, size, 0);
    convertAll(copy);
    free(copy);
  }
  close(fd);
  return 0;
}
