// Two lists with the same hook type in the load; the head of one is a local and its members are
// freed.
// FINDINGS, open: "containers need their element type per owner (one embedded hook type merges
// everything)".
// Wrong: 'chunk' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct link { // either
  struct link *next, *previous;
};
#define owner(p, T, m) ((T *)((char *)(p) - offsetof(T, m)))
static void linkInit(struct link *l) { l->next = l->previous = l; }
static void linkAdd(struct link *at, struct link *l) {
  l->next = at->next;
  l->previous = at;
  at->next->previous = l;
  at->next = l;
}
static void linkRemove(struct link *l) {
  l->next->previous = l->previous;
  l->previous->next = l->next;
}

struct chunk {
  struct link link;
  unsigned size;
  char text[128];
};
struct message { // CHECK: message [[@LINE]]
  unsigned size;
  struct link link;
  char *text;
};
static struct link messages = {&messages, &messages};

int load(const char *path) {
  struct link chunks;
  FILE *f = fopen(path, "rb");
  unsigned size;
  linkInit(&chunks);
  while (fread(&size, sizeof size, 1, f) == 1) {
    struct message *m = malloc(sizeof *m);
    struct chunk *c = malloc(sizeof *c);
    c->size = fread(c->text, 1, sizeof c->text, f);
    linkAdd(&chunks, &c->link);
    m->size = size;
    m->text = malloc(size);
    linkAdd(&messages, &m->link);
    while (chunks.next != &chunks) {
      struct chunk *first = owner(chunks.next, struct chunk, link);
      snprintf(m->text, size, "%.*s", (int)first->size, first->text);
      linkRemove(&first->link);
      free(first);
    }
  }
  fclose(f);
  return 0;
}
