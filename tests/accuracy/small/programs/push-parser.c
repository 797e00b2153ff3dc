// A parser that is fed pieces, one state machine over characters, and hands out whole events.
// load: feed_import
// must: episode channel
// never: xp
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
struct xp {
  enum { TEXT, TAG } state;
  char buf[256];
  int len;
  void *arg;
  void (*tag)(void *, const char *);
  void (*text)(void *, const char *);
};
static void xp_feed(struct xp *x, const char *s, ssize_t n) {
  for (ssize_t i = 0; i < n; i++) {
    char c = s[i];
    if (x->state == TEXT && c == '<') {
      x->buf[x->len] = 0;
      if (x->len)
        x->text(x->arg, x->buf);
      x->len = 0;
      x->state = TAG;
    } else if (x->state == TAG && c == '>') {
      x->buf[x->len] = 0;
      x->tag(x->arg, x->buf);
      x->len = 0;
      x->state = TEXT;
    } else if (x->len < 255)
      x->buf[x->len++] = c;
  }
}
struct episode { char *title, *url; struct episode *next; };
struct channel { char *name; struct episode *first, **tail; char tag[16]; };
static void on_tag(void *arg, const char *tag) {
  struct channel *c = arg;
  snprintf(c->tag, sizeof c->tag, "%s", tag);
  if (!strcmp(tag, "item")) {
    struct episode *e = calloc(1, sizeof *e);
    *c->tail = e;
    c->tail = &e->next;
  }
}
static struct episode *last(struct channel *c) {
  return c->tail == &c->first ? NULL : (struct episode *)((char *)c->tail - offsetof(struct episode, next));
}
static void on_text(void *arg, const char *text) {
  struct channel *c = arg;
  struct episode *e = last(c);
  if (!strcmp(c->tag, "title")) {
    if (e)
      e->title = strdup(text);
    else
      c->name = strdup(text);
  } else if (e && !strcmp(c->tag, "url"))
    e->url = strdup(text);
}
struct channel *feed_import(const char *path) {
  char chunk[4096];
  ssize_t n;
  int fd = open(path, O_RDONLY);
  if (fd == -1)
    return NULL;
  struct channel *c = calloc(1, sizeof *c);
  c->tail = &c->first;
  struct xp x = {.arg = c, .tag = on_tag, .text = on_text};
  while ((n = read(fd, chunk, sizeof chunk)) > 0)
    xp_feed(&x, chunk, n);
  close(fd);
  return c;
}
