// The variable that takes a mapped file has the type of the header; other types lie behind it.
// Wrong: 'ent' missed.
// RUN: %scan --format=json --load load,again %s -- | %types
// RUN: %scan -q --load load --why-not ent %s -- | FileCheck %s --check-prefix=WHY
// WHY: 'ent' is left behind
#include <sys/mman.h>

struct hdr { // CHECK: hdr [[@LINE]]
  int magic, count, off;
};
struct ent { // CHECK: ent [[@LINE]]
  int key, val, x, y;
};
static struct hdr *H;
static struct ent *E;
int load(int fd, unsigned long n) {
  int i, s = 0;
  H = mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (H->magic != 7)
    return -1;
  E = (struct ent *)(H + 1);
  for (i = 0; i < H->count; i++)
    s += E[i].key + E[i].val + E[i].x + E[i].y;
  return s;
}
struct block { // CHECK: block [[@LINE]]
  int size, used;
};
static struct hdr *G;
static struct block *B;
int again(int fd) {
  G = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  B = (struct block *)((char *)G + G->off);
  return B->size - B->used;
}
