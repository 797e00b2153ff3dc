// Records are collected in a side array, sorted, and copied as a block into the final one.
// Design 2: "objects staged ... in a side array and copied to the heap count".
// Wrong: 'price' or 'detail' missed (the staging array is freed); 'staging' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct detail { // CHECK: detail [[@LINE]]
  int tax, weight;
};
struct price { // CHECK: price [[@LINE]]
  int article;
  struct detail *detail;
};
struct staging {
  struct price *prices;
  size_t used, room;
};
static struct price *prices;
static size_t count;

static void stage(struct staging *s, int article, struct detail *d) {
  if (s->used == s->room)
    s->prices = realloc(s->prices, (s->room += 100) * sizeof *s->prices);
  s->prices[s->used].article = article;
  s->prices[s->used++].detail = d;
}
static int byArticle(const void *a, const void *b) {
  return ((const struct price *)a)->article - ((const struct price *)b)->article;
}

int load(FILE *f) {
  struct staging s = {0};
  int article;
  while (fscanf(f, "%d", &article) == 1) {
    struct detail *d = malloc(sizeof *d);
    fscanf(f, "%d %d", &d->tax, &d->weight);
    stage(&s, article, d);
  }
  qsort(s.prices, s.used, sizeof *s.prices, byArticle);
  prices = malloc(s.used * sizeof *prices);
  memcpy(prices, s.prices, s.used * sizeof *prices);
  count = s.used;
  free(s.prices);
  return 0;
}
