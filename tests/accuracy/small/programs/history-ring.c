// A shell's history in a ring of pointers that is on the heap, entries with a time.
// load: history_read
// must: hist_entry
// either: history
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef struct hist_entry { time_t when; char *line; } HIST_ENTRY;
struct history { HIST_ENTRY **ring; unsigned size, head, used; };
static struct history H;
static void entry_free(HIST_ENTRY *e) {
  if (e) {
    free(e->line);
    free(e);
  }
}
static void history_init(unsigned size) {
  H.ring = calloc(size, sizeof(HIST_ENTRY *));
  H.size = size;
  H.head = H.used = 0;
}
void history_add(const char *line, time_t when) {
  if (!H.ring)
    history_init(500);
  HIST_ENTRY *e = malloc(sizeof(HIST_ENTRY));
  e->when = when;
  e->line = strdup(line);
  entry_free(H.ring[H.head]);
  H.ring[H.head] = e;
  H.head = (H.head + 1) % H.size;
  if (H.used < H.size)
    H.used++;
}
int history_read(const char *file) {
  char *line = NULL;
  size_t cap = 0;
  ssize_t n;
  time_t when = 0;
  FILE *f = fopen(file, "r");
  if (!f)
    return -1;
  while ((n = getline(&line, &cap, f)) > 0) {
    if (line[n - 1] == '\n')
      line[n - 1] = '\0';
    if (*line == '#') {
      when = (time_t)strtoll(line + 1, NULL, 10);
      continue;
    }
    history_add(line, when);
  }
  free(line);
  return fclose(f);
}
