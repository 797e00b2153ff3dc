// free, realloc, reallocarray and malloc_usable_size of pool memory, also by code that nobody
// instrumented: getline, a library compiled by clang, a sanitizer in front.
// RUN: rm -rf %t && mkdir %t
// RUN: %plain -DLIBRARY -O2 -fPIC -shared %s -o %t/libfreer.so
// RUN: %cc -O2 %s -L %t -lfreer -Wl,-rpath,%t -o %t/plain
// RUN: env NVMOVE_METHOD=undo %t/plain %t/pool | FileCheck %s
// RUN: env NVMOVE_METHOD=shadow %t/plain %t/pool | FileCheck %s
// RUN: %cc -O1 -fsanitize=address %s -L %t -lfreer -Wl,-rpath,%t -o %t/asan
// RUN: %t/asan %t/pool | FileCheck %s
// RUN: %cc -O1 -fsanitize=thread %s -L %t -lfreer -Wl,-rpath,%t -o %t/tsan
// RUN: %t/tsan %t/pool | FileCheck %s
// CHECK: realloc 1 hey 512
// CHECK: reallocarray 1 hey
// CHECK: getline 1001 1
// CHECK: library 1 0
// CHECK: volatile 1
// CHECK: left 2

// What the pool's owner did wrong is said, and the pool stays as it was.
// RUN: %exit -6 %t/plain %t/pool twice 2> %t/twice; FileCheck --check-prefix=TWICE %s < %t/twice
// TWICE: nvmove: free(0x7e{{.*}}): {{.*}} is free already
// RUN: %exit -6 %t/plain %t/pool closed 2> %t/closed
// RUN: FileCheck --check-prefix=CLOSED %s < %t/closed
// CLOSED: nvmove: free(0x7e{{.*}}): {{.*}} is not the address of a block

// A program that brings its own allocator keeps it.
// RUN: %cc -O2 -DOWN %s -L %t -lfreer -Wl,-rpath,%t -o %t/own && %t/own | FileCheck --check-prefix=OWN %s
// OWN: own free
#include <stdio.h>
#include <stdlib.h>

void library_frees(void *block);

#ifdef LIBRARY
void library_frees(void *block) { free(block); }
#elif defined(OWN)
void free(void *block) {
  static int said;
  if (block && !said++)
    puts("own free");
}
int main(void) { library_frees(malloc(1)); }
#else
#include "nvmove/nvmove.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  unlink(argv[1]);
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  struct nvm_stats stats;
  nvm_tx_begin(pool);
  char *text = nvm_alloc(pool, 0, 8), *freed = nvm_alloc(pool, 0, 100);
  strcpy(text, "hey");
  text = realloc(text, 500);
  printf("realloc %d %s %zu\n", nvm_pool_of(text) == pool, text, malloc_usable_size(text));
  text = reallocarray(text, 100, 100);
  printf("reallocarray %d %s\n", nvm_pool_of(text) == pool, text);
  char **line = nvm_calloc(pool, 0, 2, sizeof *line);
  size_t size = 16;
  *line = nvm_alloc(pool, 0, size);
  FILE *file = tmpfile();
  fprintf(file, "%01000d\n", 7);
  rewind(file);
  printf("getline %zd %d\n", getline(line, &size, file), nvm_pool_of(*line) == pool);
  fclose(file);
  library_frees(freed);
  printf("library %d %zu\n", nvm_tx_commit(pool) == 0, nvm_usable_size(NULL));
  char *volatile_block = realloc(malloc(10), 1000);
  printf("volatile %d\n", malloc_usable_size(volatile_block) >= 1000);
  library_frees(volatile_block);
  free(*line);
  nvm_pool_stats(pool, &stats);
  printf("left %d\n", (int)(stats.allocations - stats.frees));
  fflush(stdout);
  if (argc > 2 && !strcmp(argv[2], "twice"))
    free(freed);
  nvm_pool_close(pool);
  if (argc > 2)
    free(freed);
  return 0;
}
#endif
