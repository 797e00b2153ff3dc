// Aligned memory: the allocation gives its result through a pointer, or takes the size second.
// Allocation functions of libc other than malloc.
// Wrong: 'page' or 'lane' missed.
// RUN: %scan --format=json --load load %s -- | %types
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

struct page { // CHECK: page [[@LINE]]
  unsigned char bytes[4088];
  struct page *next;
};
struct lane { // CHECK: lane [[@LINE]]
  float values[16];
};
static struct page *pages;
static struct lane *lanes;

int load(FILE *f) {
  struct page *p;
  void *memory;
  while (!posix_memalign(&memory, 4096, sizeof *p)) {
    p = memory;
    if (fread(p->bytes, 1, sizeof p->bytes, f) == 0) {
      free(p);
      break;
    }
    p->next = pages;
    pages = p;
  }
  lanes = aligned_alloc(64, 8 * sizeof *lanes);
  return fread(lanes, sizeof *lanes, 8, f);
}
