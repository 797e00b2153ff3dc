// An object that exists before the load gets most of its fields from the file; another gets only
// two counters.
// Brief: "pre-existing heap object filled in place by most of its fields (reported) vs a few
// progress counters (not reported)".
// Wrong: 'hero' missed; 'display' or 'statistics' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct hero { // CHECK: hero [[@LINE]]
  int strength, wisdom, gold, level;
  long experience;
  char name[16];
  void *sprite;
};
struct statistics {
  long bytes, records, hits, misses, evictions, started, errors, peers;
};
struct display {
  int rows, columns, cursor, color, mode, depth, refresh;
};
static struct hero *hero;
static struct statistics *statistics;
static struct display *display;

void start(void) {
  hero = calloc(1, sizeof *hero);
  statistics = calloc(1, sizeof *statistics);
  display = calloc(1, sizeof *display);
}

static int number(FILE *f) {
  int n = 0;
  fread(&n, sizeof n, 1, f);
  ++statistics->records;
  return n;
}

int load(const char *path) {
  FILE *f = fopen(path, "rb");
  int size = number(f);
  hero->strength = number(f);
  hero->wisdom = number(f);
  hero->gold = number(f);
  hero->level = number(f);
  hero->experience = number(f);
  fread(hero->name, 1, sizeof hero->name, f);
  statistics->bytes = size;
  display->cursor = 0;
  fclose(f);
  return 0;
}
