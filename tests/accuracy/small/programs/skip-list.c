// Levels in a flexible array.
// load: sl_load
// must: slnode sl
#include <stdio.h>
#include <stdlib.h>
struct slnode { double score; int member; struct slnode *next[]; };
struct sl { struct slnode *head; int level; unsigned long length; };
static struct slnode *mk(int levels, double score, int member) {
  struct slnode *n = malloc(sizeof *n + levels * sizeof n->next[0]);
  n->score = score;
  n->member = member;
  for (int i = 0; i < levels; i++)
    n->next[i] = NULL;
  return n;
}
static void sl_insert(struct sl *s, double score, int member) {
  struct slnode *update[16], *x = s->head;
  int lv = 1 + rand() % 15;
  for (int i = 15; i >= 0; i--) {
    while (x->next[i] && x->next[i]->score < score)
      x = x->next[i];
    update[i] = x;
  }
  x = mk(lv, score, member);
  for (int i = 0; i < lv; i++) {
    x->next[i] = update[i]->next[i];
    update[i]->next[i] = x;
  }
  s->length++;
}
int sl_load(FILE *f, struct sl **out) {
  struct sl *s = malloc(sizeof *s);
  double score;
  int m;
  s->head = mk(16, 0, 0);
  s->level = 1;
  s->length = 0;
  while (fscanf(f, "%lf %d", &score, &m) == 2)
    sl_insert(s, score, m);
  *out = s;
  return 0;
}
