// The wrapper returns an error code and gives the memory through a void **.
// Allocation wrappers: through void **.
// Wrong: 'volume' or 'extent' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

static int allocate(size_t count, size_t size, void *result) {
  void *p = calloc(count, size);
  *(void **)result = p;
  return p ? 0 : 12;
}
static int reallocate(size_t *room, size_t wanted, void **p) {
  void *bigger = realloc(*p, wanted);
  if (!bigger)
    return 12;
  *p = bigger;
  *room = wanted;
  return 0;
}
#define CHECKED(call)                                                                             \
  do {                                                                                             \
    if ((error = (call)) != 0)                                                                     \
      return error;                                                                                \
  } while (0)

struct extent { // CHECK: extent [[@LINE]]
  long offset, size;
};
struct volume { // CHECK: volume [[@LINE]]
  struct extent *extents;
  size_t room;
  int count;
};
static struct volume *volume;

int load(const char *path) {
  long offset, size;
  int error;
  FILE *f = fopen(path, "r");
  CHECKED(allocate(1, sizeof(struct volume), &volume));
  while (fscanf(f, "%ld %ld", &offset, &size) == 2) {
    CHECKED(reallocate(&volume->room, (volume->count + 1) * sizeof(struct extent),
                       (void **)&volume->extents));
    volume->extents[volume->count].offset = offset;
    volume->extents[volume->count++].size = size;
  }
  fclose(f);
  return 0;
}
