// A lock-free stack.
// load: preload
// must: chunk
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
struct chunk { struct chunk *below; size_t used; char bytes[1000]; };
static _Atomic(struct chunk *) top;
int preload(FILE *f) {
  for (;;) {
    struct chunk *c = malloc(sizeof *c);
    c->used = fread(c->bytes, 1, sizeof c->bytes, f);
    if (!c->used) {
      free(c);
      return 0;
    }
    struct chunk *old = atomic_load(&top);
    do
      c->below = old;
    while (!atomic_compare_exchange_weak(&top, &old, c));
  }
}
