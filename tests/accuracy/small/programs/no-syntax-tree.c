// A temporary syntax tree, evaluated and freed.
// load: load_constants
// must: constant
// never: ast
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct ast { int op; double num; struct ast *l, *r; };
struct constant { char name[16]; double value; struct constant *next; };
static struct constant *constants;
static struct ast *node(int op, double num, struct ast *l, struct ast *r) {
  struct ast *a = malloc(sizeof *a);
  a->op = op, a->num = num, a->l = l, a->r = r;
  return a;
}
static struct ast *term(const char **s) {
  double d = strtod(*s, (char **)s);
  return node('n', d, NULL, NULL);
}
static struct ast *sum(const char **s) {
  struct ast *a = term(s);
  while (**s == '+' || **s == '-') {
    int op = *(*s)++;
    a = node(op, 0, a, term(s));
  }
  return a;
}
static double eval(const struct ast *a) { return a->op == 'n' ? a->num : a->op == '+' ? eval(a->l) + eval(a->r) : eval(a->l) - eval(a->r); }
static void drop(struct ast *a) {
  if (!a)
    return;
  drop(a->l);
  drop(a->r);
  free(a);
}
int load_constants(FILE *f) {
  char line[200], name[16];
  int at;
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "%15[A-Z]=%n", name, &at) != 1)
      continue;
    const char *s = line + at;
    struct ast *a = sum(&s);
    struct constant *c = malloc(sizeof *c);
    strcpy(c->name, name);
    c->value = eval(a);
    c->next = constants;
    constants = c;
    drop(a);
  }
  return 0;
}
