// The load replays a log; the log's own objects (segments, buffer, position) remain open for
// writing but are machinery of the persistence, not data.
// FINDINGS: "write-ahead-log machinery"; rule 8.
// Wrong: 'wal' or 'segment' reported.
// RUN: %scan --format=json --load load %s -- | %types
// RUN: %scan --load load --why-not wal %s -- | FileCheck --check-prefix=WHY %s
// WHY: 'wal': the one made at {{.*}} leads to nothing but what holds the input handle
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct segment {
  int fd;
  long first, last;
  struct segment *next;
};
struct wal {
  struct segment *segments, *current;
  char buffer[4096];
  unsigned used;
  long sequence;
};
static struct wal *wal;

struct change {
  long sequence;
  int key, value;
};
struct entry { // CHECK: entry [[@LINE]]
  int key, value;
  struct entry *next;
};
static struct entry *table[128];

static void apply(const struct change *c) {
  struct entry *e;
  for (e = table[c->key & 127]; e; e = e->next)
    if (e->key == c->key)
      break;
  if (!e) {
    e = malloc(sizeof *e);
    e->key = c->key;
    e->next = table[c->key & 127];
    table[c->key & 127] = e;
  }
  e->value = c->value;
}

static struct segment *openSegment(struct wal *w, const char *folder, int number) {
  char path[256];
  struct segment *s = calloc(1, sizeof *s);
  snprintf(path, sizeof path, "%s/%08d", folder, number);
  s->fd = open(path, O_RDWR);
  if (s->fd < 0) {
    free(s);
    return NULL;
  }
  s->next = w->segments;
  w->segments = s;
  return s;
}

void append(const struct change *c) {
  if (wal->used + sizeof *c > sizeof wal->buffer) {
    write(wal->current->fd, wal->buffer, wal->used);
    wal->used = 0;
  }
  *(struct change *)(wal->buffer + wal->used) = *c;
  wal->used += sizeof *c;
}

int load(const char *folder) {
  struct change c;
  struct segment *s;
  int number = 0;
  wal = calloc(1, sizeof *wal);
  while ((s = openSegment(wal, folder, number++))) {
    while (read(s->fd, &c, sizeof c) == sizeof c) {
      apply(&c);
      if (!s->first)
        s->first = c.sequence;
      s->last = wal->sequence = c.sequence;
    }
    wal->current = s;
  }
  return 0;
}
