// Statistics beside the data.
// load: load_lines
// must: text
// never: stats
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct text { char *s; struct text *next; };
struct stats { long lines, bytes, longest; };
static struct text *all;
static struct stats *stats_of(void) { static struct stats *s; if (!s) s = calloc(1, sizeof *s); return s; }
int load_lines(FILE *f) {
  char b[512];
  while (fgets(b, sizeof b, f)) {
    struct text *t = malloc(sizeof *t);
    t->s = strdup(b);
    t->next = all;
    all = t;
    stats_of()->lines++;
    stats_of()->bytes += 512;
  }
  return 0;
}
