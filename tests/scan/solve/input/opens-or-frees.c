// What opens the input frees its argument in a case of a case: it is no destructor.
// Wrong: 'section' missed, since the open is never seen.
// RUN: %scan --format=json --load load %s -- | %types
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct device { // either
  int fd, users, temporary;
};
static void deviceClose(struct device *d) {
  if (--d->users)
    return;
  close(d->fd);
  if (d->temporary)
    free(d);
}
static int deviceOpen(struct device *d, const char *path, int again) {
  if (d->fd >= 0) {
    if (d->users && !again) {
      d->users++;
      return 1;
    }
    if (again)
      deviceClose(d);
  }
  d->fd = open(path, O_RDONLY);
  return d->fd >= 0;
}

struct section { // CHECK: section [[@LINE]]
  long start, length;
  struct section *next;
};
static struct section *sections;

static void sectionAdd(const long *place) {
  struct section *s = malloc(sizeof *s);
  s->start = place[0];
  s->length = place[1];
  s->next = sections;
  sections = s;
}
static struct device disk;

int load(const char *path) {
  struct device *d = &disk;
  long place[2];
  deviceOpen(d, path, 1);
  while (read(d->fd, place, sizeof place) == sizeof place)
    sectionAdd(place);
  deviceClose(d);
  return 0;
}
