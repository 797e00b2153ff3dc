// A library's file is replaced while the library is loaded: the new file's symbols say nothing of what is loaded. What
// lies there has no name then, and only the same build has it.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %cc -O1 -shared -fPIC -Wl,--build-id %s -DFIRST=one -DSECOND=two -o %t/old.so
// RUN: %cc -O1 -shared -fPIC -Wl,--build-id %s -DFIRST=two -DSECOND=one -o %t/new.so
// RUN: %cc -O1 %s -o %t/main -ldl
// RUN: cd %t && cp old.so plug.so && ./main pool new.so && %exit 1 ./main pool 2>&1 | FileCheck %s
// CHECK: field call of struct hook points to nameless data of another build of plug.so
// RUN: cd %t && cp old.so plug.so && ./main pool
// Without a build id, too.
// RUN: %cc -O1 -shared -fPIC -Wl,--build-id=none %s -DFIRST=one -DSECOND=two -o %t/old.so
// RUN: %cc -O1 -shared -fPIC -Wl,--build-id=none %s -DFIRST=two -DSECOND=one -o %t/new.so
// RUN: cd %t && rm pool && cp old.so plug.so && ./main pool new.so && %exit 1 ./main pool 2>&1 | FileCheck %s
// RUN: cd %t && cp old.so plug.so && ./main pool
#ifdef FIRST
int FIRST(void) { return 1; }
int SECOND(void) { return 2; }
#else
#include "nvmove/nvmove.h"

#include <dlfcn.h>
#include <stdio.h>

struct hook {
  int (*call)(void);
};

int main(int count, char **values) {
  void *library = dlopen("./plug.so", RTLD_NOW);
  if (!library)
    return fprintf(stderr, "%s\n", dlerror()), 2;
  if (count == 3) {
    NVM_POOL *pool = nvm_pool_create(values[1], 1 << 20);
    if (rename(values[2], "plug.so"))
      return 2;
    nvm_tx_begin(pool);
    struct hook *made = nvm_calloc(pool, NVM_TYPE_ID(struct hook), 1, sizeof *made);
    made->call = (int (*)(void))dlsym(library, "one");
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 3;
    return nvm_pool_close(pool);
  }
  NVM_POOL *pool = nvm_pool_open(values[1]);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct hook *hook = nvm_pool_root(pool);
  if (hook->call != (int (*)(void))dlsym(library, "one"))
    return fprintf(stderr, "wrong: %d\n", hook->call()), 4;
  return nvm_pool_close(pool);
}
#endif
