// The memory comes from a library that names its allocators after those of libc.
// Externals that nobody described.
// Wrong: any of the four missed, as if all memory were one object.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>

char *LBmalloc(unsigned int size);

static char *safeMalloc(unsigned int size) {
  char *made = LBmalloc(size);
  if (!made)
    fprintf(stderr, "out of memory\n");
  return made;
}

struct range { // CHECK: range [[@LINE]]
  long first, last;
  struct range *next;
};
struct group { // CHECK: group [[@LINE]]
  struct range *read;
  struct request *request;
  struct score *score;
  struct group *next;
};
struct request { // CHECK: request [[@LINE]]
  int article;
};
struct score { // CHECK: score [[@LINE]]
  char pattern[40];
};
static struct group *groups;

int load(FILE *f) {
  long first, last;
  char pattern[40];
  while (fscanf(f, "%ld-%ld %39s", &first, &last, pattern) == 3) {
    struct group *g = (struct group *)safeMalloc(sizeof(struct group));
    g->read = (struct range *)safeMalloc(sizeof(struct range));
    g->read->first = first;
    g->read->last = last;
    g->request = (struct request *)safeMalloc(sizeof(struct request));
    g->request->article = (int)first;
    g->score = (struct score *)safeMalloc(sizeof(struct score));
    snprintf(g->score->pattern, sizeof g->score->pattern, "%s", pattern);
    g->next = groups;
    groups = g;
  }
  return 0;
}
