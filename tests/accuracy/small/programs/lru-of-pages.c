// The cache IS the state: pages are read in and kept in order of use.
// load: warm_up
// must: page
// either: lru
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct page { struct page *newer, *older; long number; char data[512]; };
struct lru { struct page *newest, *oldest; int count; };
static struct lru pages;
static void to_front(struct lru *l, struct page *p) {
  p->older = l->newest;
  p->newer = NULL;
  if (l->newest)
    l->newest->newer = p;
  else
    l->oldest = p;
  l->newest = p;
  l->count++;
}
int warm_up(int fd) {
  long at = 0;
  for (;;) {
    struct page *p = malloc(sizeof *p);
    p->number = at++;
    if (read(fd, p->data, sizeof p->data) <= 0) {
      free(p);
      return pages.count;
    }
    to_front(&pages, p);
  }
}
