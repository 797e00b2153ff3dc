// A buffered reader on the heap decodes varints; records have repeated fields in arrays with a count.
// load: feed_read
// must: trip stop_time feed
// never: rd
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct rd { int fd, eof; size_t pos, len; unsigned char buf[4096]; };
static struct rd *rd_open(const char *path) {
  struct rd *r = malloc(sizeof *r);
  if (r && (r->fd = open(path, O_RDONLY)) < 0) {
    free(r);
    return NULL;
  }
  r->pos = r->len = 0;
  r->eof = 0;
  return r;
}
static int rd_byte(struct rd *r) {
  if (r->pos == r->len) {
    ssize_t n = read(r->fd, r->buf, sizeof r->buf);
    if (n <= 0) {
      r->eof = 1;
      return -1;
    }
    r->len = n;
    r->pos = 0;
  }
  return r->buf[r->pos++];
}
static uint64_t rd_varint(struct rd *r) {
  uint64_t v = 0;
  for (int shift = 0, c; (c = rd_byte(r)) >= 0 && shift < 64; shift += 7) {
    v |= (uint64_t)(c & 127) << shift;
    if (c < 128)
      break;
  }
  return v;
}
static char *rd_string(struct rd *r) {
  uint64_t n = rd_varint(r);
  char *s = malloc(n + 1);
  for (uint64_t i = 0; i < n; i++)
    s[i] = (char)rd_byte(r);
  s[n] = 0;
  return s;
}
struct stop_time { char *stop; uint32_t arrive, leave; };
struct trip { char *id; size_t nstops; struct stop_time *stops; };
struct feed { size_t ntrips; struct trip **trips; uint64_t stamp; };
static struct trip *trip_read(struct rd *r) {
  struct trip *t = calloc(1, sizeof *t);
  t->id = rd_string(r);
  uint64_t n = rd_varint(r);
  t->stops = calloc(n, sizeof t->stops[0]);
  for (; t->nstops < n; t->nstops++) {
    struct stop_time *s = t->stops + t->nstops;
    s->stop = rd_string(r);
    s->arrive = (uint32_t)rd_varint(r);
    s->leave = s->arrive + (uint32_t)rd_varint(r);
  }
  return t;
}
struct feed *feed_read(const char *path) {
  struct rd *r = rd_open(path);
  if (!r)
    return NULL;
  struct feed *f = calloc(1, sizeof *f);
  f->stamp = rd_varint(r);
  while (!r->eof) {
    f->trips = realloc(f->trips, (f->ntrips + 1) * sizeof *f->trips);
    f->trips[f->ntrips++] = trip_read(r);
  }
  close(r->fd);
  free(r);
  return f;
}
