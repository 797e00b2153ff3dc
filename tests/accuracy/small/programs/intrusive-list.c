// Circular list heads embedded in the records, container_of to get back.
// load: load_mounts
// must: mount
// either: list_head
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct list_head { struct list_head *next, *prev; };
struct mount { char dir[64]; char dev[64]; struct list_head link; };
#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))
static struct list_head mounts = {&mounts, &mounts};
static void add_tail(struct list_head *n, struct list_head *h) {
  n->prev = h->prev;
  n->next = h;
  h->prev->next = n;
  h->prev = n;
}
int load_mounts(const char *path) {
  FILE *f = fopen(path, "r");
  char dev[64], dir[64];
  int n = 0;
  while (f && fscanf(f, "%63s %63s", dev, dir) == 2) {
    struct mount *m = malloc(sizeof *m);
    strcpy(m->dir, dir);
    strcpy(m->dev, dev);
    add_tail(&m->link, &mounts);
    n++;
  }
  for (struct list_head *l = mounts.next; l != &mounts; l = l->next)
    if (container_of(l, struct mount, link)->dir[0] != '/')
      n--;
  return n;
}
