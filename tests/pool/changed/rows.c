/* same */
#include "changed.h"
struct cell {
#if V
  long before;
#endif
  int a, b;
};
struct grid {
#if V
  char kind;
#endif
  struct cell cells[3][4];
  int numbers[2][3];
};
struct root {
  struct grid *grid;
  struct cell (*row)[4];
  struct cell (*rows)[3][4];
  int (*line)[3];
  struct cell *cell;
  int *b;
  unsigned long *words; /* of a block of another kind of number */
  double *same;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->grid = NEW(struct grid);
  for (int i = 0; i < 12; i++)
    r->grid->cells[i / 4][i % 4] = (struct cell){.a = i, .b = 100 + i};
  for (int i = 0; i < 6; i++)
    r->grid->numbers[i / 3][i % 3] = 200 + i;
  r->row = &r->grid->cells[1];
  r->rows = &r->grid->cells;
  r->line = &r->grid->numbers[1];
  r->cell = &r->grid->cells[2][3];
  r->b = &r->grid->cells[2][1].b;
  r->same = NEWS(double, 3);
  r->same[1] = 2.5;
  r->words = (unsigned long *)r->same;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("%d %d %d %d %d %d %d %lx\n", (*r->row)[2].a, (*r->rows)[2][0].b, (*r->line)[1],
         r->cell->b, *r->b, r->row == &r->grid->cells[1], r->same == (void *)r->words, r->words[1]);
}
