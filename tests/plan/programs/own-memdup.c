// An allocator that copies what it is given, and knows no types.
//
// load: load
// save: save
// file: d
// data: ann 1
// data: bob 2
// command: cy 3
// command: dora 4
// command: ann 5
// ask: ?
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair {
  char *k, *v;
};
struct n {
  struct pair *p;
  struct n *next;
};
static struct n *head;
static int cnt;
static void *xmemdup(const void *p, size_t n) {
  void *q = malloc(n);
  if (!q)
    abort();
  return memcpy(q, p, n);
}
static char *xstr(const char *s) { return xmemdup(s, strlen(s) + 1); }
static void put(const char *k, const char *v) {
  struct pair t = {xstr(k), xstr(v)};
  struct n m = {xmemdup(&t, sizeof t), head};
  head = xmemdup(&m, sizeof m);
  cnt += 1;
}
static void load(void) {
  FILE *f = fopen("d", "r");
  char a[30], b[30];
  if (!f)
    return;
  while (fscanf(f, "%29s %29s", a, b) == 2)
    put(a, b);
  fclose(f);
}
static void save(void) {
  FILE *f = fopen("d", "w");
  for (struct n *x = head; x; x = x->next)
    fprintf(f, "%s %s\n", x->p->k, x->p->v);
  fclose(f);
}
static void reply(const char *s) {
  puts(s);
  fflush(stdout);
}
int main(void) {
  char b[300], k[30], v[30];
  load();
  while (fgets(b, 80, stdin)) {
    if (sscanf(b, "put %29s %29s", k, v) == 2) {
      put(k, v);
      reply("ok");
    } else {
      sprintf(b, "%d:", cnt);
      for (struct n *x = head; x; x = x->next)
        sprintf(b + strlen(b), " %s=%s", x->p->k, x->p->v);
      reply(b);
    }
  }
  save();
}
