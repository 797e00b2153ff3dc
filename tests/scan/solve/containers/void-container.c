// A list whose elements are void *: what is in it is known only where it is allocated.
// FINDINGS: "void * everywhere: type objects at allocation".
// Wrong: only 'list' and 'cell'; or 'job' (kept in another list of the same kind).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct cell { // CHECK: cell [[@LINE]]
  void *value;
  struct cell *next;
};
struct list { // CHECK: list [[@LINE]]
  struct cell *head;
  unsigned length;
};

static struct list *listNew(void) { return calloc(1, sizeof(struct list)); }
static void listPush(struct list *l, void *value) {
  struct cell *c = malloc(sizeof *c);
  c->value = value;
  c->next = l->head;
  l->head = c;
  ++l->length;
}

struct book { // CHECK: book [[@LINE]]
  int year;
  char title[40];
};
struct job {
  int due;
};
static struct list *books, *jobs;

void schedule(int due) {
  struct job *j = malloc(sizeof *j);
  j->due = due;
  if (!jobs)
    jobs = listNew();
  listPush(jobs, j);
}

int load(FILE *f) {
  int year;
  books = listNew();
  while (fread(&year, sizeof year, 1, f) == 1) {
    struct book *b = malloc(sizeof *b);
    b->year = year;
    fread(b->title, 1, sizeof b->title, f);
    listPush(books, b);
  }
  return 0;
}
