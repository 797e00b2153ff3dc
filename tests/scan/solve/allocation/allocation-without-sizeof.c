// The size comes from a computation or from the file: only the destination says what it is.
// FINDINGS: "allocation without sizeof(T)"; design 2: typed by the destination and by casts.
// Wrong: 'image' (size by number) or 'block' (size from the file) missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct image { // CHECK: image [[@LINE]]
  int width, height;
  unsigned char *pixels;
};
struct block { // CHECK: block [[@LINE]]
  unsigned size;
  struct block *next;
  unsigned char bytes[1];
};
#define IMAGE_SIZE 16
static struct image *picture;
static struct block *blocks;

int load(FILE *f) {
  unsigned size;
  picture = malloc(IMAGE_SIZE);
  fread(&picture->width, sizeof(int), 1, f);
  fread(&picture->height, sizeof(int), 1, f);
  picture->pixels = malloc(picture->width * picture->height);
  fread(picture->pixels, picture->width, picture->height, f);
  while (fread(&size, sizeof size, 1, f) == 1) {
    struct block *b = malloc(size + 16);
    b->size = size;
    b->next = blocks;
    fread(b->bytes, 1, size, f);
    blocks = b;
  }
  return 0;
}
