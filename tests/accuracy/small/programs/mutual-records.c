// A department has people, people have a department.
// load: load_firm
// must: dept employee
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct dept dept;
typedef struct employee employee;
struct employee { dept *in; char name[30]; employee *boss; };
struct dept { char code[4]; employee *staff[50]; int n; dept *next; };
static dept *depts;
static dept *dept_of(const char *code) {
  dept *d;
  for (d = depts; d; d = d->next)
    if (!strcmp(d->code, code))
      return d;
  d = calloc(1, sizeof *d);
  strcpy(d->code, code);
  d->next = depts;
  depts = d;
  return d;
}
void load_firm(FILE *f) {
  char code[4], name[30];
  while (fscanf(f, "%3s %29s", code, name) == 2) {
    dept *d = dept_of(code);
    employee *e = malloc(sizeof *e);
    e->in = d;
    e->boss = d->n ? d->staff[0] : NULL;
    strcpy(e->name, name);
    d->staff[d->n++] = e;
  }
}
