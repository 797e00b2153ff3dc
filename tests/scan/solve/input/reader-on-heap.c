// A buffered reader that holds the handle is allocated, kept by a global for error messages, and
// never freed.
// Rule 8: "a type that holds the input handle is machinery", and what only it holds.
// Wrong: 'reader' or 'lineBuffer' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lineBuffer {
  char bytes[512];
  int from, to;
};
struct reader {
  int fd, line;
  struct lineBuffer *ahead;
};
static struct reader *reading;

static struct reader *openReader(const char *path) {
  struct reader *r = malloc(sizeof *r);
  r->fd = open(path, O_RDONLY);
  r->line = 0;
  r->ahead = calloc(1, sizeof *r->ahead);
  return r;
}
static int next(struct reader *r) {
  struct lineBuffer *b = r->ahead;
  if (b->from == b->to) {
    b->from = 0;
    b->to = read(r->fd, b->bytes, sizeof b->bytes);
    if (b->to <= 0)
      return -1;
  }
  return b->bytes[b->from++];
}

struct letter { // CHECK: letter [[@LINE]]
  int code;
  struct letter *next;
};
static struct letter *letters;

int load(const char *path) {
  int c;
  reading = openReader(path);
  while ((c = next(reading)) >= 0) {
    struct letter *l = malloc(sizeof *l);
    l->code = c;
    l->next = letters;
    letters = l;
    if (c == '\n')
      ++reading->line;
  }
  return 0;
}
