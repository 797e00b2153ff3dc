// An array of records that realloc grows while it is filled; the record holds grown arrays too.
// realloc-grown arrays.
// Wrong: 'word' or 'entry' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct entry { // CHECK: entry [[@LINE]]
  int page, line;
};
struct word { // CHECK: word [[@LINE]]
  char text[20];
  struct entry *entries;
  unsigned used, room;
};
static struct word *words;
static size_t used, room;

static void addEntry(struct word *w, int page, int line) {
  if (w->used == w->room) {
    w->room = w->room ? 2 * w->room : 4;
    w->entries = realloc(w->entries, w->room * sizeof(struct entry));
  }
  w->entries[w->used].page = page;
  w->entries[w->used++].line = line;
}

int load(FILE *f) {
  struct word w = {0};
  int page, line;
  while (fscanf(f, "%19s %d %d", w.text, &page, &line) == 3) {
    if (used == room) {
      void *more = realloc(words, (room += 64) * sizeof *words);
      if (!more)
        return -1;
      words = more;
    }
    words[used] = w;
    addEntry(&words[used++], page, line);
  }
  return 0;
}
