// New records are copies of a template that was set up before; the table is fixed, slots are found.
// load: spawn_read
// must: monster
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct monster { char name[20]; short hp, mana, level; unsigned flags; struct monster *target; };
static const struct monster blank = {.name = "?", .hp = 10, .level = 1};
#define MAX 128
static struct monster *table[MAX];
static struct monster *clone(const struct monster *m) {
  struct monster *c = malloc(sizeof(*c));
  *c = *m;
  return c;
}
static struct monster **slot(void) {
  for (int i = 0; i < MAX; i++)
    if (!table[i])
      return &table[i];
  return NULL;
}
int spawn_read(FILE *f) {
  char line[100], *v;
  struct monster *m = NULL, **at;
  while (fgets(line, sizeof line, f)) {
    line[strcspn(line, "\r\n")] = '\0';
    switch (line[0]) {
    case 'N':
      if (!(at = slot()))
        return -1;
      m = *at = clone(&blank);
      strncpy(m->name, line + 2, sizeof m->name - 1);
      break;
    case 'H':
      if (m)
        m->hp = (short)atoi(line + 2);
      break;
    case 'F':
      for (v = line + 2; m && *v; v++)
        m->flags |= 1u << (*v - 'a');
      break;
    }
  }
  return 0;
}
