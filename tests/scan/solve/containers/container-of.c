// The list links the embedded hooks; the owner is computed back from the hook.
// Interior pointers; issue: container_of.
// Wrong: 'task' missed (only its hook is stored), or 'timer' (same hook type, another list).
// RUN: %scan --format=json --load load %s -- | %types
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct list_head { // either
  struct list_head *next, *prev;
};
#define container_of(p, T, m) ((T *)((char *)(p) - offsetof(T, m)))
static inline void list_add(struct list_head *n, struct list_head *h) {
  n->next = h->next;
  n->prev = h;
  h->next->prev = n;
  h->next = n;
}

struct task { // CHECK: task [[@LINE]]
  int id;
  struct list_head link;
  long due;
};
struct timer {
  struct list_head link;
  long at;
};
static struct list_head tasks = {&tasks, &tasks};
static struct list_head timers = {&timers, &timers};
static long first;

void startTimer(long at) {
  struct timer *t = malloc(sizeof *t);
  t->at = at;
  list_add(&t->link, &timers);
}

int load(const char *path) {
  struct list_head *at;
  int id;
  FILE *f = fopen(path, "rb");
  while (fread(&id, sizeof id, 1, f) == 1) {
    struct task *t = malloc(sizeof *t);
    t->id = id;
    fread(&t->due, sizeof t->due, 1, f);
    list_add(&t->link, &tasks);
  }
  for (at = tasks.next; at != &tasks; at = at->next)
    if (container_of(at, struct task, link)->due < first)
      first = container_of(at, struct task, link)->due;
  fclose(f);
  return 0;
}
