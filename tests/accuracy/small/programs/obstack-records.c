// GNU obstacks.
// load: load_log_index
// must: logline
#include <obstack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define obstack_chunk_alloc malloc
#define obstack_chunk_free free
struct logline { long offset; int severity; struct logline *next; };
static struct obstack mem;
static struct logline *lines;
int load_log_index(FILE *f) {
  char buf[400];
  int sev, n = 0;
  obstack_init(&mem);
  for (long at = 0; fgets(buf, sizeof buf, f); at = ftell(f)) {
    if (sscanf(buf, "<%d>", &sev) != 1)
      continue;
    struct logline *l = obstack_alloc(&mem, sizeof *l);
    l->offset = at;
    l->severity = sev;
    l->next = lines;
    lines = l;
    n++;
  }
  return n;
}
