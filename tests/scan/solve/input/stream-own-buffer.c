// A stream of the program's own that keeps its buffer and its descriptor in one record: what is
// taken from the buffer is input, and is not the descriptor.
// Wrong: 'item' missed, or 'stream' reported.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stream {
  int fd;
  char buffer[512];
  char *at, *end;
};

struct item { // CHECK: item [[@LINE]]
  struct item *next;
  char name[32];
  int number;
};
struct item *items;

static int fill(struct stream *s) {
  long count = read(s->fd, s->buffer, sizeof s->buffer);
  if (count <= 0)
    return -1;
  s->at = s->buffer;
  s->end = s->buffer + count;
  return 0;
}

static int get(struct stream *s) {
  if (s->at == s->end && fill(s) < 0)
    return -1;
  return *s->at++ & 255;
}

static int line(struct stream *s, char *to, int size) {
  int c;
  while ((c = get(s)) > ' ' && size-- > 1)
    *to++ = (char)c;
  *to = 0;
  return c < 0 ? -1 : 0;
}

static void add(const char *name) {
  struct item *made = calloc(1, sizeof *made);
  strncpy(made->name, name, sizeof made->name - 1);
  made->number = atoi(name);
  made->next = items;
  items = made;
}

void load(const char *path) {
  char text[64];
  struct stream *s = calloc(1, sizeof *s);
  s->fd = open(path, O_RDONLY);
  while (line(s, text, sizeof text) == 0)
    add(text);
  close(s->fd);
  free(s);
}
