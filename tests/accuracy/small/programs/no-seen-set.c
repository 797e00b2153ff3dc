// A set of what was seen is destroyed by its own function before the load returns.
// load: mailbox_scan
// must: mail
// never: set set_node
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct set_node { char *key; struct set_node *next; };
struct set { struct set_node **slots; unsigned n; };
static struct set *set_new(unsigned n) {
  struct set *s = malloc(sizeof *s);
  s->slots = calloc(n, sizeof *s->slots);
  s->n = n;
  return s;
}
static unsigned hash(const char *k) {
  unsigned h = 2166136261u;
  while (*k)
    h = (h ^ (unsigned char)*k++) * 16777619u;
  return h;
}
static int set_add(struct set *s, const char *key) {
  struct set_node **at = &s->slots[hash(key) % s->n];
  for (struct set_node *x = *at; x; x = x->next)
    if (!strcmp(x->key, key))
      return 0;
  struct set_node *made = malloc(sizeof *made);
  made->key = strdup(key);
  made->next = *at;
  *at = made;
  return 1;
}
static void set_free(struct set *s) {
  for (unsigned i = 0; i < s->n; i++)
    for (struct set_node *x = s->slots[i], *next; x; x = next) {
      next = x->next;
      free(x->key);
      free(x);
    }
  free(s->slots);
  free(s);
}
struct mail { char *from, *id; long offset; struct mail *next; };
struct mail *mailbox_scan(FILE *mbox) {
  char line[1000], from[256] = "";
  struct mail *first = NULL, **tail = &first;
  struct set *seen = set_new(509);
  long at = 0;
  while (fgets(line, sizeof line, mbox)) {
    if (!strncmp(line, "From ", 5)) {
      sscanf(line + 5, "%255s", from);
      at = ftell(mbox);
    } else if (!strncmp(line, "Message-Id: ", 12) && set_add(seen, line + 12)) {
      struct mail *m = malloc(sizeof *m);
      m->from = strdup(from);
      m->id = strdup(line + 12);
      m->offset = at;
      m->next = NULL;
      *tail = m;
      tail = &m->next;
    }
  }
  set_free(seen);
  return first;
}
