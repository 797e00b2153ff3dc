/* same */
#include "changed.h"
#if V == 0
struct obj {
  int type;
};
struct str {
  int type;
  int len;
  char s[8];
};
struct num {
  int type;
  double d;
};
#else
struct obj {
  long refs;
  int type;
};
struct str {
  long refs;
  int type;
  int len;
  char s[8];
};
struct num {
  long refs;
  int type;
  double d;
};
#endif
struct root {
  struct obj *o[2];
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  struct str *s = NEW(struct str);
  s->type = 1;
  s->len = 3;
  strcpy(s->s, "abc");
  struct num *n = NEW(struct num);
  n->type = 2;
  n->d = 2.5;
  r->o[0] = (void *)s;
  r->o[1] = (void *)n;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("type %d %s | type %d %g\n", r->o[0]->type, ((struct str *)r->o[0])->s, r->o[1]->type,
         ((struct num *)r->o[1])->d);
}
