// The file is opened two calls down, by a wrapper that gives the handle back through a parameter.
// Rule 2: "see through wrappers of open, and visit the call chain down to it".
// Wrong: nothing.
// RUN: %scan --format=json --load load %s -- | %types
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int openSafely(const char *path, int *fd) {
  int tries;
  for (tries = 0; tries < 3; ++tries) {
    *fd = open(path, O_RDONLY);
    if (*fd >= 0)
      return 0;
  }
  return -1;
}
static FILE *openState(const char *path) {
  int fd;
  return openSafely(path, &fd) ? NULL : fdopen(fd, "rb");
}

struct seat { // CHECK: seat [[@LINE]]
  int row, number;
};
static struct seat *seats[400];

int load(const char *path) {
  int row, number, n = 0;
  FILE *f = openState(path);
  if (!f)
    return -1;
  while (fscanf(f, "%d %d", &row, &number) == 2) {
    seats[n] = malloc(sizeof(struct seat));
    seats[n]->row = row;
    seats[n++]->number = number;
  }
  fclose(f);
  return 0;
}
