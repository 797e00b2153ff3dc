// A large record that set-up code made and the load fills in three of its many fields; another one
// receives a single field, which is progress.
// Wrong: 'level' missed, or 'status' reported.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>

struct level { // CHECK: level [[@LINE]]
  int depth, feeling, created;
  int light, noise, scent, mood, weather, hour, minute, owner, flags;
  void *monsters, *objects;
};
struct status {
  int lines, errors, started, running;
};
struct level *level;
struct status *status;

void setUp(void) {
  level = calloc(1, sizeof *level);
  status = calloc(1, sizeof *status);
}

void load(const char *path) {
  FILE *f = fopen(path, "r");
  int depth, feeling, created;
  if (fscanf(f, "%d %d %d", &depth, &feeling, &created) == 3) {
    level->depth = depth;
    level->feeling = feeling;
    level->created = created;
    status->lines = depth;
  }
  fclose(f);
}
