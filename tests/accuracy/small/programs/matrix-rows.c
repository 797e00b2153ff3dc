// A matrix of rows behind one header.
// load: load_matrix
// must: matrix
#include <stdio.h>
#include <stdlib.h>
struct matrix { int rows, cols; double **row; };
struct matrix *load_matrix(FILE *f) {
  struct matrix *m = malloc(sizeof *m);
  if (fscanf(f, "%d %d", &m->rows, &m->cols) != 2) {
    free(m);
    return NULL;
  }
  m->row = malloc(m->rows * sizeof *m->row);
  for (int i = 0; i < m->rows; i++) {
    m->row[i] = malloc(m->cols * sizeof(double));
    for (int j = 0; j < m->cols; j++)
      fscanf(f, "%lf", &m->row[i][j]);
  }
  return m;
}
