// A root for each thread.
// load: load_session
// must: var
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct var { struct var *next; char *name, *value; };
static _Thread_local struct var *vars;
int load_session(int id) {
  char path[64], n[64], v[64];
  snprintf(path, sizeof path, "/tmp/session-%d", id);
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  while (fscanf(f, "%63s %63s", n, v) == 2) {
    struct var *x = malloc(sizeof *x);
    x->name = strdup(n);
    x->value = strdup(v);
    x->next = vars;
    vars = x;
  }
  return fclose(f);
}
