// Two libraries of one file name, in two folders: each pointer leads to what it led to, in whatever order they are
// loaded. Where nothing tells them apart the opening is refused.
// RUN: rm -rf %t && mkdir -p %t/a %t/b %t/c
// RUN: %cc -O1 -shared -fPIC -DNUMBER=1 -Wl,--build-id %s -o %t/a/plug.so
// RUN: %cc -O1 -shared -fPIC -DNUMBER=2 -Wl,--build-id %s -o %t/b/plug.so
// RUN: %cc -O1 -shared -fPIC -DNUMBER=3 -Wl,--build-id %s -o %t/c/plug.so
// RUN: %cc -O1 %s -o %t/main -ldl
// RUN: cd %t && ./main pool a/plug.so b/plug.so && ./main pool a/plug.so b/plug.so && ./main pool b/plug.so a/plug.so swapped
// RUN: ./main pool c/plug.so b/plug.so a/plug.so third
// One of them built anew: which it was, nothing says. The pool stays as it is.
// RUN: cd %t && %exit 1 ./main pool c/plug.so b/plug.so 2>&1 | FileCheck --check-prefix=SEVERAL %s
// SEVERAL: points to answer in plug.so, and several libraries of that name are loaded, none of them the one that was meant
// RUN: cd %t && ./main pool a/plug.so b/plug.so
// Two copies of one.
// RUN: cd %t && cp a/plug.so c/plug.so && %exit 1 ./main pool a/plug.so b/plug.so c/plug.so 2>&1 | FileCheck --check-prefix=COPIES %s
// COPIES: points to answer in plug.so, which is loaded twice
// A library that is alone was built anew.
// RUN: cd %t && ./main one a/plug.so && %cc -O1 -shared -fPIC -DNUMBER=1 -DMORE -Wl,--build-id %s -o c/plug.so && ./main one c/plug.so
// Without a build id a library is known by its bytes.
// RUN: %cc -O1 -shared -fPIC -DNUMBER=1 -Wl,--build-id=none %s -o %t/a/plug.so
// RUN: %cc -O1 -shared -fPIC -DNUMBER=2 -Wl,--build-id=none %s -o %t/b/plug.so
// RUN: cd %t && rm pool && ./main pool a/plug.so b/plug.so && ./main pool a/plug.so b/plug.so && ./main pool b/plug.so a/plug.so swapped
// RUN: cd %t && strip a/plug.so && ./main pool b/plug.so a/plug.so swapped
#ifdef NUMBER
#ifdef MORE
int more(int n) { return n < 2 ? 1 : more(n - 1) * more(n - 2); }
#endif
int answer(void) { return NUMBER; }
const int table[] = {NUMBER, 5};
#else
#include "nvmove/nvmove.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct hook {
  int (*call)(void);
  const int *table;
};

int main(int count, char **values) {
  void *libraries[3] = {0};
  int names = strcmp(values[count - 1], "swapped") && strcmp(values[count - 1], "third") ? count : count - 1;
  for (int i = 2; i < names; i++) {
    char path[4096];
    snprintf(path, sizeof path, "./%s", values[i]);
    if (!(libraries[i - 2] = dlopen(path, RTLD_NOW)))
      return fprintf(stderr, "%s\n", dlerror()), 2;
  }
  NVM_POOL *pool = nvm_pool_open(values[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    struct hook *made = nvm_calloc(pool, NVM_TYPE_ID(struct hook), 3, sizeof *made);
    for (int i = 0; libraries[i]; i++)
      made[i] = (struct hook){(int (*)(void))dlsym(libraries[i], "answer"), dlsym(libraries[i], "table")};
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 3;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct hook *hooks = nvm_pool_root(pool);
  for (int i = 0; i < 3 && hooks[i].call; i++)
    if (hooks[i].call() != i + 1 || hooks[i].table[0] != i + 1)
      return fprintf(stderr, "%d leads to %d and %d\n", i + 1, hooks[i].call(), hooks[i].table[0]), 4;
  return nvm_pool_close(pool);
}
#endif
