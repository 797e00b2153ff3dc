// `nvmove pool export`: the program saves the pool in its own way; the pool stays as it is.
// RUN: %cc %s -o %t && rm -f %pool && %t %pool make && cp %pool %t.before
// RUN: %nvmove pool export %pool --call 'save(2,"%t.saved")' -- %t %pool serve 2>&1 | FileCheck --check-prefix=GAVE %s
// GAVE: nvmove: save(2,"{{.*}}.saved") gave 14
// RUN: FileCheck --check-prefix=SAVED %s < %t.saved && cmp %pool %t.before
// SAVED: number 7 times 2
// A program without commit point: when it ends. A function of one file, by its name.
// RUN: %nvmove pool export %pool --call 'export.c:hidden()' -- %t %pool end 2>&1 | FileCheck --check-prefix=HIDDEN %s
// HIDDEN: number 7
// HIDDEN: gave 3
// Without --call the program does what it always does; what it changes is not kept.
// RUN: %nvmove pool export %pool -- %t %pool change 2>&1 | FileCheck --check-prefix=CHANGE %s && cmp %pool %t.before
// CHANGE: number 8
// RUN: %exit 2 %nvmove pool export %pool --call 'svae()' -- %t %pool serve 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: error: the program has no function svae (a static one is called as file.c:name)
// RUN: %exit 2 %nvmove pool export %pool --call 'save(2' -- %t %pool serve 2>&1 | FileCheck --check-prefix=SYNTAX %s
// SYNTAX: error: what is to be called is written name(1,"text"), with up to six arguments
// RUN: %exit 2 %nvmove pool export %pool --call 'save()' -- /bin/true 2>&1 | FileCheck --check-prefix=OTHER %s
// OTHER: error: the program ended without having opened
// RUN: %exit 2 %nvmove pool export %pool -- /bin/true 2>&1 | FileCheck --check-prefix=UNOPENED %s
// UNOPENED: error: the program ended without having opened {{.*}}; nothing was exported
// RUN: %exit 2 %nvmove pool export %pool 2>&1 | FileCheck --check-prefix=WHICH %s
// WHICH: which program? Name it behind --
// RUN: %exit 2 %nvmove pool info %pool -- x 2>&1 | FileCheck --check-prefix=ONLY %s
// ONLY: only export runs a program
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef NVM_STRUCT root { int number; } root;

static root *loaded; /* what an attach function would set */

int save(int times, const char *path) {
  FILE *file = fopen(path, "w");
  fprintf(file, "number %d times %d\n", loaded->number, times);
  return fclose(file) ? -1 : loaded->number * times;
}

__attribute__((used, noinline)) static int hidden(void) {
  printf("number %d\n", loaded->number);
  return 3;
}

NVM_COMMIT_POINT void before_sleep(void) {}

int main(int argc, char **argv) {
  NVM_POOL *pool = argv[2][0] == 'm' ? nvm_pool_create(argv[1], 1 << 20) : nvm_pool_open(argv[1]);
  loaded = nvm_pool_root(pool);
  if (!loaded) {
    nvm_tx_begin(pool);
    loaded = nvm_calloc(pool, NVM_TYPE_ID(root), 1, sizeof *loaded);
    loaded->number = 7;
    nvm_pool_set_root(pool, loaded);
    nvm_tx_commit(pool);
  }
  for (int i = 0; strcmp(argv[2], "serve") == 0; i++)
    i < 1000 ? before_sleep() : _exit(4);
  if (strcmp(argv[2], "change") == 0) {
    loaded->number++;
    printf("number %d\n", loaded->number);
  }
  return strcmp(argv[2], "make") == 0 ? nvm_pool_close(pool) : 0;
}
