// --algorithm=nvmove, optimisation (c): "not visiting bodies of functions defined in libc API", here
// a replacement that the program brings along for systems without it.
// Wrong: 'lineState' reported with (c), or missing without it.
// RUN: %scan --format=json --load load --algorithm=nvmove %s -- | %types
// RUN: %scan --format=json --load load --algorithm=nvmove --nvmove-opts=abd %s -- \
// RUN:   | %types --check-prefixes=CHECK,BODY
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

struct lineState { // BODY: lineState [[@LINE]]
  size_t used, room;
};
struct remark { // CHECK: remark [[@LINE]]
  char *text;
  struct remark *next;
};
static struct remark *remarks;

ssize_t getline(char **line, size_t *room, FILE *f) {
  struct lineState s;
  int c;
  s.used = 0;
  s.room = *room;
  while ((c = getc(f)) != EOF && c != '\n') {
    if (s.used + 1 >= s.room)
      *line = realloc(*line, s.room += 80);
    (*line)[s.used++] = c;
  }
  *room = s.room;
  return c == EOF ? -1 : (ssize_t)s.used;
}

int load(FILE *f) {
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, f) > 0) {
    struct remark *r = malloc(sizeof *r);
    r->text = line;
    r->next = remarks;
    remarks = r;
    line = NULL;
    room = 0;
  }
  return 0;
}
