// A hook is called during the load without input and without a new object.
// Rule 1: "visit a candidate only if the input or a new object flows in".
// Wrong: 'gauge' (built by the hook) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct gauge {
  int ticks;
  struct gauge *next;
};
static struct gauge *gauges;
static void tick(int step) {
  struct gauge *g = malloc(sizeof *g);
  g->ticks = step;
  g->next = gauges;
  gauges = g;
}
void (*progressHook)(int step) = tick;

struct tile { // CHECK: tile [[@LINE]]
  short kind, height;
};
static struct tile *tiles;

int load(FILE *f) {
  int y;
  tiles = calloc(64 * 64, sizeof(struct tile));
  for (y = 0; y < 64; ++y) {
    fread(tiles + y * 64, sizeof(struct tile), 64, f);
    progressHook(1);
  }
  return 0;
}
