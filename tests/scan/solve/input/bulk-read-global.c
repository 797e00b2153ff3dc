// A global record is read as a whole, by its size, with no assignment in sight.
// FINDINGS: "whole structs read through void * helpers"; rule 9.
// Wrong: 'settings' missed because only its first field seems to receive input; 'progress', of which
// the load writes one field, reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>

struct settings { // CHECK: settings [[@LINE]]
  int level, speed, colour, size;
};
struct progress {
  long done, wanted, started, ended;
};
static struct settings settings;
static struct progress progress;

static void get(FILE *f, void *to, size_t size) {
  fread(to, size, 1, f);
}

int load(const char *path) {
  FILE *f = fopen(path, "rb");
  get(f, &settings, sizeof settings);
  fread(&progress.done, sizeof progress.done, 1, f);
  return fclose(f);
}
