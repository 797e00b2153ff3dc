// A typed vector made by macros: an unnamed structure by value in a global.
// Containers from macros; unnamed records.
// Wrong: 'arrow' missed, or a type without a name reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

#define vector_of(T)                                                                               \
  struct {                                                                                         \
    size_t n, room;                                                                                \
    T *a;                                                                                          \
  }
#define vector_push(T, v)                                                                          \
  (((v).n == (v).room ? ((v).room = (v).room ? (v).room * 2 : 2,                                   \
                         (v).a = (T *)realloc((v).a, sizeof(T) * (v).room), 0)                     \
                      : 0),                                                                        \
   &(v).a[(v).n++])

typedef struct { // CHECK: arrow [[@LINE]]
  int from, to;
} arrow;
static vector_of(arrow) arrows;

int load(FILE *f) {
  int from, to;
  while (fscanf(f, "%d %d", &from, &to) == 2) {
    arrow *a = vector_push(arrow, arrows);
    a->from = from;
    a->to = to;
  }
  return 0;
}
