// GNU C: statement expressions, typeof, __auto_type, cleanup attributes and conditional operands
// left out.
// Statement expressions and typeof macros.
// Wrong: 'wheel' missed (the allocation is inside a statement expression); 'guard' reported.
// RUN: %scan --format=json --load load %s -- -std=gnu11 | %types
#include <stdio.h>
#include <stdlib.h>

#define max(a, b)                                                                                  \
  ({                                                                                               \
    __typeof__(a) first = (a);                                                                     \
    __typeof__(b) second = (b);                                                                    \
    first > second ? first : second;                                                               \
  })
#define new(T)                                                                                     \
  ({                                                                                               \
    __typeof__(T) *made = calloc(1, sizeof(T));                                                    \
    if (!made)                                                                                     \
      abort();                                                                                     \
    made;                                                                                          \
  })
#define push(list, item)                                                                           \
  ({                                                                                               \
    __typeof__(list) old = (list);                                                                 \
    (list) = (item);                                                                               \
    (list)->next = old;                                                                            \
  })

struct wheel { // CHECK: wheel [[@LINE]]
  int teeth;
  struct wheel *next;
};
struct guard {
  FILE *file;
};
static struct wheel *wheels;
static int largest;
static void closeGuard(struct guard *g) { fclose(g->file); }

int load(const char *path) {
  __attribute__((cleanup(closeGuard))) struct guard g = {fopen(path, "rb") ?: stdin};
  int teeth;
  while (fread(&teeth, sizeof teeth, 1, g.file) == 1) {
    __auto_type w = new(struct wheel);
    w->teeth = teeth;
    largest = max(largest, w->teeth);
    push(wheels, w);
  }
  return 0;
}
