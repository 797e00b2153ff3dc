// A reader with a buffer of its own, closed at the end.
// load: load_tracks
// must: track
// never: reader
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct reader { int fd; size_t at, have; char buf[4096]; };
struct track { char artist[64], name[64]; struct track *next; };
static struct track *tracks;
static struct reader *open_reader(const char *p) {
  struct reader *r = calloc(1, sizeof *r);
  r->fd = open(p, O_RDONLY);
  return r;
}
static int get(struct reader *r) {
  if (r->at == r->have) {
    ssize_t n = read(r->fd, r->buf, sizeof r->buf);
    if (n <= 0)
      return -1;
    r->have = n;
    r->at = 0;
  }
  return (unsigned char)r->buf[r->at++];
}
static int field(struct reader *r, char *to, int end) {
  int c, n = 0;
  while ((c = get(r)) >= 0 && c != end)
    if (n < 63)
      to[n++] = c;
  to[n] = 0;
  return c == end;
}
int load_tracks(const char *p) {
  struct reader *r = open_reader(p);
  struct track t;
  while (field(r, t.artist, '\t') && field(r, t.name, '\n')) {
    struct track *n = malloc(sizeof *n);
    *n = t;
    n->next = tracks;
    tracks = n;
  }
  close(r->fd);
  free(r);
  return 0;
}
