// The file is watched by the program's loop after the load.
// load: load_watched
// must: entry
// never: watcher loop
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct entry { char name[50]; int flags; struct entry *next; };
struct watcher { int fd; void (*ready)(struct watcher *); struct watcher *next; };
struct loop { struct watcher *first; int stop; };
static struct loop main_loop;
static struct entry *entries;
static void watch(struct loop *l, int fd, void (*ready)(struct watcher *)) {
  struct watcher *w = malloc(sizeof *w);
  w->fd = fd;
  w->ready = ready;
  w->next = l->first;
  l->first = w;
}
static void changed(struct watcher *w) { lseek(w->fd, 0, SEEK_SET); }
int load_watched(const char *p) {
  FILE *f = fopen(p, "r");
  char name[50];
  int flags;
  if (!f)
    return -1;
  while (fscanf(f, "%49s %i", name, &flags) == 2) {
    struct entry *e = malloc(sizeof *e);
    strcpy(e->name, name);
    e->flags = flags;
    e->next = entries;
    entries = e;
  }
  fclose(f);
  watch(&main_loop, open(p, O_RDONLY), changed);
  return 0;
}
