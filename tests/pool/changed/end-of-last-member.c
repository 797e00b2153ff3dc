/* same */
#include "changed.h"
#if V == 0
struct ring {
  char *end;
  char buf[24];
};
#else
struct ring {
  char *end;
  char buf[24];
  long total;
};
#endif
struct root {
  struct ring *b;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = NEW(struct ring);
  r->b->end = r->b->buf + 24;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("end-buf %ld (24)\n", r->b->end - r->b->buf);
}
