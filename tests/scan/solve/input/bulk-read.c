// Whole structs are read through a helper that takes void *: no field is ever assigned.
// FINDINGS: "whole structs read through void * helpers with no assignment in sight".
// Wrong: 'monster' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>

struct monster { // CHECK: monster [[@LINE]]
  short kind, health;
  int x, y;
};
static struct monster *monsters;
static int count;

static void restore(int fd, void *to, unsigned size) {
  if (read(fd, to, size) != (ssize_t)size)
    _exit(1);
}

int load(const char *path) {
  int fd = open(path, O_RDONLY);
  restore(fd, &count, sizeof count);
  monsters = malloc(count * sizeof(struct monster));
  restore(fd, monsters, count * sizeof(struct monster));
  close(fd);
  return 0;
}
