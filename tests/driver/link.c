// A library that is loaded later finds the one runtime of the process, and a program its pool.
// RUN: %cc -O1 -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %cc -O1 %s -o %t -ldl && %t %t.so %t.pool
#include "nvmove/nvmove.h"

#ifdef LIBRARY
void fill(long *p) { *p = 42; }
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **values) {
  void *library = dlopen(values[1], RTLD_NOW);
  if (!library)
    return fprintf(stderr, "%s\n", dlerror()), 1;
  void (*fill)(long *) = (void (*)(long *))dlsym(library, "fill");
  remove(values[2]);
  NVM_POOL *pool = nvm_pool_create(values[2], 1 << 20);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  nvm_tx_begin(pool);
  long *p = nvm_alloc(pool, NVM_TYPE_ID(long), sizeof *p);
  nvm_pool_set_root(pool, p);
  *p = 7;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  fill(p);
  nvm_tx_abort(pool);
  printf("%ld\n", *p);
  return *p != 7;
}
#endif
