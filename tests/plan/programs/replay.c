// The load runs the commands of a log through the same functions as a client does.
//
// load: replay
// save: compact
// file: log.txt
// data: inc a 5
// data: inc b 6
// data: inc q 2
// command: inc a 1
// command: inc z 9
// command: inc c 2
// command: inc b 1
// ask: get a
// ask: get b
// ask: get c
// ask: get q
// ask: get z
/* the state is a log of commands: the load replays it through the same dispatcher that serves clients */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct acc {
  char name[16];
  long val;
  struct acc *l, *r;
};
struct peer {
  FILE *out;
  int quiet;
  long served;
};
static struct acc *tree;
static long applied;
static FILE *aof;
static struct acc **where(const char *n) {
  struct acc **p = &tree;
  while (*p) {
    int c = strcmp(n, (*p)->name);
    if (!c)
      break;
    p = c < 0 ? &(*p)->l : &(*p)->r;
  }
  return p;
}
static void reply(struct peer *p, const char *s) {
  if (p->quiet)
    return;
  p->served++;
  fprintf(p->out, "%s\n", s);
  fflush(p->out);
}
static int dispatch(struct peer *p, const char *l);
static int c_inc(struct peer *p, const char *n, long v) {
  struct acc **a = where(n);
  char b[30];
  if (!*a) {
    *a = calloc(1, sizeof **a);
    strncpy((*a)->name, n, 15);
  }
  (*a)->val += v;
  applied = applied + 1;
  sprintf(b, "%ld", (*a)->val);
  reply(p, b);
  return 1;
}
static int c_get(struct peer *p, const char *n, long v) {
  struct acc *a = *where(n);
  char b[60];
  (void)v;
  sprintf(b, "%ld of %ld", a ? a->val : 0, applied);
  reply(p, b);
  return 0;
}
static const struct {
  const char *n;
  int (*f)(struct peer *, const char *, long);
} cmds[] = {{"inc", c_inc}, {"get", c_get}, {0, 0}};
static int dispatch(struct peer *p, const char *l) {
  char c[16], n[16];
  long v = 0;
  if (sscanf(l, "%15s %15s %ld", c, n, &v) < 2) {
    reply(p, "short");
    return 0;
  }
  for (int i = 0; cmds[i].n; i++)
    if (!strcmp(cmds[i].n, c)) {
      int w = cmds[i].f(p, n, v);
      if (w && aof) {
        fputs(l, aof);
        fflush(aof);
      }
      return w;
    }
  reply(p, "unknown");
  return 0;
}
static int replay(const char *path) {
  FILE *f = fopen(path, "r");
  char l[100];
  struct peer nobody = {NULL, 1, 0};
  if (!f)
    return 0;
  while (fgets(l, sizeof l, f))
    dispatch(&nobody, l);
  fclose(f);
  return 1;
}
static void compact1(FILE *f, struct acc *a) {
  if (!a)
    return;
  fprintf(f, "inc %s %ld\n", a->name, a->val);
  compact1(f, a->l);
  compact1(f, a->r);
}
static void compact(const char *path) {
  FILE *f = fopen(path, "w");
  if (f) {
    compact1(f, tree);
    fclose(f);
  }
}
int main(void) {
  char l[100];
  struct peer me = {stdout, 0, 0};
  replay("log.txt");
  aof = fopen("log.txt", "a");
  while (fgets(l, sizeof l, stdin))
    dispatch(&me, l);
  fclose(aof);
  compact("log.txt");
  return 0;
}
