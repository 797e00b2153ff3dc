// A string that a stream has and no width bounds goes to a pool unlogged: the program tells of the first.
// RUN: rm -f %t.pool && %cc -O1 %s -o %t && %t %t.pool 2>&1 | FileCheck %s
// CHECK-NOT: a scanf
// CHECK: first
// CHECK-NEXT: nvmove: {{.*}}.pool: a scanf reads a string without a width to 0x7e{{[0-9a-f]+}}: it is not logged
// CHECK-NEXT: second
// CHECK-NOT: a scanf
#include "nvmove/nvmove.h"

#include <stdio.h>

static void input(const char *text, const char *format, void *to) {
  const char *volatile hidden = format;
  FILE *f = tmpfile();
  fputs(text, f);
  rewind(f);
  fscanf(f, hidden, to);
  fclose(f);
}

int main(int argc, char **argv) {
  setbuf(stdout, NULL);
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  char *block = nvm_calloc(pool, 0, 1, 100), local[100];
  input("word", "%s", local);
  input("word", "%20s", block);
  puts("first");
  input("word", "%s", block);
  puts("second");
  input("word", "%s", block);
  nvm_tx_commit(pool);
  return argc != 2 || nvm_pool_close(pool);
}
