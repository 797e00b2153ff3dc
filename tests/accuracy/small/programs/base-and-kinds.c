// A common first member; the list knows the base only.
// load: load_zoo
// must: bird fish
// either: animal
#include <stdio.h>
#include <stdlib.h>
struct animal { int kind; struct animal *next; };
struct bird { struct animal is; float wings; };
struct fish { struct animal is; int scales; };
static struct animal *zoo;
static void keep(struct animal *a, int kind) {
  a->kind = kind;
  a->next = zoo;
  zoo = a;
}
void load_zoo(FILE *f) {
  char k;
  float w;
  while (fscanf(f, " %c %f", &k, &w) == 2)
    if (k == 'b') {
      struct bird *b = malloc(sizeof *b);
      b->wings = w;
      keep(&b->is, 1);
    } else {
      struct fish *x = malloc(sizeof *x);
      x->scales = (int)w;
      keep(&x->is, 2);
    }
}
