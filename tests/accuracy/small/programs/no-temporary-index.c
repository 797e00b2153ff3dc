// A hash of names resolves references and is freed.
// load: load_classes
// must: cls
// never: name_ref
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct cls { char name[40], super_name[40]; struct cls *super, *next; };
struct name_ref { struct cls *c; struct name_ref *next; };
static struct cls *classes;
int load_classes(FILE *f) {
  struct name_ref *index[64] = {0};
  char n[40], s[40];
  while (fscanf(f, "%39s : %39s", n, s) == 2) {
    struct cls *c = calloc(1, sizeof *c);
    struct name_ref *r = malloc(sizeof *r);
    strcpy(c->name, n);
    strcpy(c->super_name, s);
    c->next = classes;
    classes = c;
    r->c = c;
    r->next = index[n[0] & 63];
    index[n[0] & 63] = r;
  }
  for (struct cls *c = classes; c; c = c->next)
    for (struct name_ref *r = index[c->super_name[0] & 63]; r; r = r->next)
      if (!strcmp(r->c->name, c->super_name))
        c->super = r->c;
  for (int i = 0; i < 64; i++)
    while (index[i]) {
      struct name_ref *r = index[i];
      index[i] = r->next;
      free(r);
    }
  return 0;
}
