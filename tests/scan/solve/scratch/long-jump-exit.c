// Errors leave the reader by longjmp; the error object is built only on that way.
// Design 1: noreturn error exits.
// Wrong: 'failure' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct failure {
  long position;
  int code;
};
static struct failure *failure;
static jmp_buf failed;

static void fail(FILE *f, int code) {
  failure = malloc(sizeof *failure);
  failure->position = ftell(f);
  failure->code = code;
  longjmp(failed, code);
}

struct block { // CHECK: block [[@LINE]]
  int size;
  struct block *next;
};
static struct block *blocks;

static struct block *readBlock(FILE *f) {
  struct block *b = malloc(sizeof *b);
  if (fread(&b->size, sizeof b->size, 1, f) != 1)
    fail(f, 1);
  if (b->size < 0)
    fail(f, 2);
  return b;
}

int load(const char *path) {
  FILE *f = fopen(path, "rb");
  if (setjmp(failed)) {
    fclose(f);
    return -1;
  }
  for (;;) {
    struct block *b = readBlock(f);
    b->next = blocks;
    blocks = b;
  }
}
