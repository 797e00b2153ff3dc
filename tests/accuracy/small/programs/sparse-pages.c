// A sparse array in two levels of tables; pages are made when first touched.
// load: bitmap_restore
// must: page
// either: directory
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define PAGE_BITS 12
#define FANOUT 1024
struct page { uint64_t words[1 << (PAGE_BITS - 6)]; uint32_t set; };
struct directory { struct page *pages[FANOUT]; };
static struct directory *dirs[FANOUT];
static struct page *page_for(uint32_t n, int create) {
  uint32_t d = n >> (PAGE_BITS + 10), p = (n >> PAGE_BITS) & (FANOUT - 1);
  if (!dirs[d]) {
    if (!create)
      return NULL;
    dirs[d] = calloc(1, sizeof(struct directory));
  }
  if (!dirs[d]->pages[p] && create)
    dirs[d]->pages[p] = calloc(1, sizeof(struct page));
  return dirs[d]->pages[p];
}
static void mark(uint32_t n) {
  struct page *p = page_for(n, 1);
  uint32_t bit = n & ((1u << PAGE_BITS) - 1);
  if (!(p->words[bit >> 6] & (UINT64_C(1) << (bit & 63)))) {
    p->words[bit >> 6] |= UINT64_C(1) << (bit & 63);
    p->set++;
  }
}
int bitmap_restore(const char *path) {
  uint32_t run[2];
  FILE *f = fopen(path, "rb");
  if (!f)
    return -1;
  while (fread(run, sizeof run, 1, f) == 1)
    for (uint32_t i = 0; i < run[1]; i++)
      mark(run[0] + i);
  return fclose(f);
}
