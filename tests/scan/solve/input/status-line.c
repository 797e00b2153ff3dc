// What was loaded is shown right away: a status record that existed before is filled, but from what is
// built already, far from the input.
// Filled in place: by the readers, not by whoever looks at the result.
// Wrong: 'status' found.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct hero { // CHECK: hero [[@LINE]]
  int strength, wisdom, gold;
};
struct status {
  int strength, wisdom, gold;
};
static struct hero *hero;
static struct status status;

static void showNumbers(struct hero *h) {
  status.strength = h->strength;
  status.wisdom = h->wisdom;
  status.gold = h->gold;
}
static void showLine(struct hero *h) { showNumbers(h); }
static void showBottom(struct hero *h) { showLine(h); }
static void show(struct hero *h) { showBottom(h); }
static void refresh(struct hero *h) { show(h); }

int load(const char *path) {
  FILE *f = fopen(path, "r");
  struct hero *h = malloc(sizeof *h);
  fscanf(f, "%d %d %d", &h->strength, &h->wisdom, &h->gold);
  hero = h;
  refresh(hero);
  fclose(f);
  return 0;
}
