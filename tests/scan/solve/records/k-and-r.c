// K&R C: definitions without prototypes, a constructor used before it is declared, returning char *.
// K&R functions.
// Wrong: 'member' missed (no prototype to match arguments with, pointer returned as char *).
// RUN: %scan --format=json --load load %s -- -std=gnu89 | %types
#include <stdio.h>

struct member { // CHECK: member [[@LINE]]
  int age;
  char name[20];
  struct member *next;
};
struct member *members;
char *malloc();
char *get();

load(path) char *path;
{
  FILE *f = fopen(path, "r");
  struct member *m;
  while ((m = (struct member *)get(f, sizeof(struct member))) != 0)
    enter(m, &members);
  fclose(f);
}

char *get(f, size)
FILE *f;
int size;
{
  register char *p = malloc(size);
  if (fread(p, size, 1, f) != 1)
    return 0;
  return p;
}

enter(m, list)
struct member *m, **list;
{
  m->next = *list;
  *list = m;
}
