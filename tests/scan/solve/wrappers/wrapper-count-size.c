// calloc behind a macro that gives type and count, and a wrapper that multiplies.
// Allocation wrappers: count + size.
// Wrong: 'vertex' or 'face' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *arrayOf(size_t count, size_t size) {
  if (size && count > SIZE_MAX / size)
    abort();
  return malloc(count * size);
}
#define NEW(T, n) ((T *)arrayOf((n), sizeof(T)))

typedef struct { // CHECK: vertex [[@LINE]]
  float x, y, z;
} vertex;
typedef struct face_s { // CHECK: face_s [[@LINE]]
  unsigned corners[3];
} face;
static vertex *vertices;
static face *faces;

int load(const char *path) {
  unsigned sizes[2], i;
  FILE *f = fopen(path, "rb");
  fread(sizes, sizeof *sizes, 2, f);
  vertices = NEW(vertex, sizes[0]);
  faces = NEW(face, sizes[1]);
  fread(vertices, sizeof(vertex), sizes[0], f);
  for (i = 0; i < sizes[1]; ++i)
    fscanf(f, "%u %u %u", &faces[i].corners[0], &faces[i].corners[1], &faces[i].corners[2]);
  fclose(f);
  return 0;
}
