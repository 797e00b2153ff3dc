// A set-up function allocates the board without input; the load only fills its squares.
// FINDINGS, open: "allocation by a set-up function without input and filled in the load".
// Wrong: 'square' missed. The header 'board' (two of its fields, then only read) may go either way.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct square { // CHECK: square [[@LINE]]
  int piece, color, moved;
};
struct board { // either
  int width, height;
  struct square *squares;
  int turn, castling, clock, number;
};
static struct board *board;

void setUp(int width, int height) {
  board = calloc(1, sizeof *board);
  board->width = width;
  board->height = height;
  board->squares = calloc(width * height, sizeof *board->squares);
}

int load(const char *path) {
  int x, y;
  FILE *f = fopen(path, "rb");
  for (y = 0; y < board->height; ++y)
    for (x = 0; x < board->width; ++x) {
      struct square *s = &board->squares[y * board->width + x];
      s->piece = getc(f);
      s->color = getc(f);
      s->moved = getc(f);
    }
  board->turn = getc(f);
  fclose(f);
  return 0;
}
