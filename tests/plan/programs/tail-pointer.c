// A queue with the address of its last link, a cursor, texts from a constant table.
//
// load: load
// save: save
// file: tasks.txt
// data: work mail
// data: home wash
// command: put work report
// command: next
// command: done 1
// command: put home cook
// command: pop
// command: next
// command: put x y
// ask: list
// ask: next
// ask: next
// ask: list
/* singly linked queue with a tail pointer into the last node; records by cursor; prints with printf and no flush but at the end of a batch */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct task {
  struct task *next;
  unsigned prio : 4, done : 1;
  unsigned long no;
  const char *kind;
  char *what;
};
static const char *kinds[] = {"home", "work", NULL};
static struct task *head, **tail = &head, *cursor;
static unsigned long counter;
static const char *kind(const char *k) {
  for (int i = 0; kinds[i]; i++)
    if (!strcmp(kinds[i], k))
      return kinds[i];
  return kinds[0];
}
static struct task *put(const char *k, const char *w) {
  struct task *t = malloc(sizeof(struct task));
  memset(t, 0, sizeof *t);
  counter += 1;
  t->no = counter;
  t->kind = kind(k);
  t->what = strdup(w);
  *tail = t;
  tail = &t->next;
  if (!cursor)
    cursor = t;
  return t;
}
void load(void) {
  FILE *f = fopen("tasks.txt", "r");
  char k[20], w[80];
  if (!f)
    return;
  while (fscanf(f, "%19s %79s", k, w) == 2)
    put(k, w);
  fclose(f);
}
void save(void) {
  FILE *f = fopen("tasks.txt", "w");
  if (!f)
    return;
  for (struct task *t = head; t; t = t->next)
    fprintf(f, "%s %s\n", t->kind, t->what);
  fclose(f);
}
static void one(const char *l) {
  char k[20], w[80];
  unsigned long n;
  if (sscanf(l, "put %19s %79s", k, w) == 2)
    printf("#%lu\n", put(k, w)->no);
  else if (sscanf(l, "done %lu", &n) == 1) {
    for (struct task *t = head; t; t = t->next)
      if (t->no == n) {
        t->done = 1;
        printf("done %s\n", t->what);
        return;
      }
    printf("no\n");
  } else if (!strncmp(l, "next", 4)) {
    if (cursor) {
      printf("%s\n", cursor->what);
      cursor = cursor->next ? cursor->next : head;
    } else
      printf("-\n");
  } else if (!strncmp(l, "pop", 3)) {
    struct task *t = head;
    if (!t) {
      printf("-\n");
      return;
    }
    if (!(head = t->next))
      tail = &head;
    if (cursor == t)
      cursor = head;
    printf("%s\n", t->what);
    free(t->what);
    free(t);
  } else {
    for (struct task *t = head; t; t = t->next)
      printf("%lu%s%s:%s ", t->no, t->done ? "x" : "", t->kind, t->what);
    printf("\n");
  }
}
int main(void) {
  char l[200];
  load();
  while (fgets(l, sizeof l, stdin)) {
    one(l);
    fflush(stdout);
  }
  save();
  return 0;
}
