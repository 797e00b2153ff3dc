// A function that allocates by a size in a description and gives a void pointer is a pool, unless it
// reads: then it is the reader, and what it does with the memory counts.
// Wrong: the reader taken for an allocator, so that no input reaches 'artist': "low".
// RUN: %scan -q --load load %s -- -std=gnu99 | FileCheck %s
// CHECK: artist {{.*}} high
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct kind {
  size_t size, link;
  void **head;
};
struct artist {
  int born;
  struct artist *next;
};
static struct artist *artists;
static const struct kind kinds[] = {
    {sizeof(struct artist), offsetof(struct artist, next), (void **)&artists}};
static void *make(const struct kind *k, FILE *f) {
  char *made = calloc(1, k->size);
  if (fscanf(f, "%d", (int *)made) != 1)
    return NULL;
  *(void **)(made + k->link) = *k->head;
  return made;
}
void load(FILE *f) {
  void *made;
  while ((made = make(&kinds[0], f)) != NULL)
    *kinds[0].head = made;
}
