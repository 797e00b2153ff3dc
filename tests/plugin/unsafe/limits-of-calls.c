// What a library's function is told that it may write is a limit that is none, or less than it writes after it has
// enlarged its buffer: what it does write is in the pool after a kill, and a count below 0 is the library's to refuse.
// RUN: %cc -O2 %s -o %t
// RUN: rm -f %t.pool && env NVMOVE_METHOD=undo %t %t.pool && %t %t.pool again
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow %t %t.pool && %t %t.pool again
#define _GNU_SOURCE
#include "nvmove/nvmove.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 399, SHORT = 16 };
struct root {
  char copied[64], year[64], input[64];
  char *line, *grown;
  size_t length, size;
};
static struct root *root;

static void write_all(void) {
  volatile size_t all = SIZE_MAX;
  volatile int most = INT32_MAX, fewer_than_none = -1;
  struct tm time = {.tm_year = 70, .tm_mday = 1};
  struct iovec part = {root->copied, 4};
  char text[LONG + 1];
  memset(text, 'x', LONG);
  text[LONG - 1] = '\n';
  memccpy(root->copied, "copied", 0, all);
  strftime(root->year, all, "%Y", &time);
  FILE *f = fmemopen("input\n", 6, "r");
  fgets(root->input, most, f);
  fclose(f);
  f = fmemopen(text, LONG, "r");
  getline(&root->line, &root->length, f);
  rewind(f);
  getdelim(&root->grown, &root->size, '\n', f);
  fclose(f);
  if (readv(0, &part, fewer_than_none) != -1 || errno != EINVAL)
    _exit(4);
}

int main(int argc, char **argv) {
  NVM_POOL *pool = argc > 2 ? nvm_pool_open(argv[1]) : nvm_pool_create(argv[1], 1 << 20);
  if (argc > 2) {
    root = nvm_pool_root(pool);
    if (strcmp(root->copied, "copied") || strcmp(root->year, "1970") ||
        strcmp(root->input, "input\n"))
      return 1;
    return strlen(root->line) != LONG || strlen(root->grown) != LONG || root->length < LONG ? 2 : 0;
  }
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  root->line = nvm_alloc(pool, 0, root->length = SHORT);
  root->grown = nvm_alloc(pool, 0, 300); // enlarged where it is
  root->size = 300;
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  write_all();
  if (nvm_tx_commit(pool))
    return 3;
  _exit(0);
}
