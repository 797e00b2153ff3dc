// A library is closed, and another one comes to lie at its addresses. A pointer to the second one's
// function is not saved as one to the first one's: it is refused until the pool is opened anew.
// RUN: %cc -O1 -shared -fPIC -DNUMBER=1 %s -o %t.1.so
// RUN: %cc -O1 -shared -fPIC -DNUMBER=2 %s -o %t.2.so
// RUN: %cc -O1 %s -o %t -ldl
// RUN: %t %t.1.so %t.2.so %t.pool kept 2>&1 | FileCheck --check-prefix=KEPT %s
// KEPT: first: 0, says 1
// KEPT-NEXT: second: {{.*}}unsafe pointer: field call of the struct hook
// KEPT-SAME: where 'answer' of closed-library.c.tmp.1.so lay until that library was closed; close the pool and open it again
// KEPT-NEXT: constant: {{.*}}unsafe pointer: field text of the struct hook
// KEPT-NEXT: own: 0
// KEPT-NEXT: again: 1 and 2
// RUN: %t %t.1.so %t.2.so %t.pool late 2>&1 | FileCheck --check-prefix=LATE %s
// LATE: unsafe: 0
// LATE-NEXT: first: 0, says 2
// LATE-NEXT: again: 0 and 2
// RUN: %t %t.1.so %t.1.so %t.pool same 2>&1 | FileCheck --check-prefix=SAME %s
// SAME: first: 0, says 1
// SAME-NEXT: second: 0
// SAME-NEXT: again: 1 and 1
// A library of the same file name is another one, where its bytes differ; the same one built twice is the same.
// RUN: rm -rf %t.folder && mkdir -p %t.folder/1 %t.folder/2 %t.folder/copy
// RUN: %cc -O1 -shared -fPIC -DNUMBER=1 -Wl,--build-id %s -o %t.folder/1/plug.so && cp %t.folder/1/plug.so %t.folder/copy
// RUN: %cc -O1 -shared -fPIC -DNUMBER=3 -Wl,--build-id %s -o %t.folder/2/plug.so
// RUN: %t %t.folder/1/plug.so %t.folder/2/plug.so %t.pool name 2>&1 | FileCheck --check-prefix=NAME %s
// NAME: first: 0, says 1
// NAME-NEXT: second: {{.*}}unsafe pointer: field call of the struct hook
// NAME-SAME: where 'answer' of plug.so lay until that library was closed
// NAME-NEXT: constant: {{.*}}unsafe pointer: field text of the struct hook
// NAME-NEXT: again: 1 and 3
// RUN: %t %t.folder/1/plug.so %t.folder/copy/plug.so %t.pool copy 2>&1 | FileCheck --check-prefix=COPY %s
// COPY: second: 0
// Without build ids, too.
// RUN: %cc -O1 -shared -fPIC -DNUMBER=1 -Wl,--build-id=none %s -o %t.folder/1/plug.so && cp %t.folder/1/plug.so %t.folder/copy
// RUN: %cc -O1 -shared -fPIC -DNUMBER=3 -Wl,--build-id=none %s -o %t.folder/2/plug.so
// RUN: %t %t.folder/1/plug.so %t.folder/2/plug.so %t.pool name 2>&1 | FileCheck --check-prefix=NAME %s
// RUN: %t %t.folder/1/plug.so %t.folder/copy/plug.so %t.pool copy 2>&1 | FileCheck --check-prefix=COPY %s
#ifdef NUMBER
#if NUMBER != 2
int answer(void) { return NUMBER; }
const char words[] = {'0' + NUMBER, 0};
#else
int second(void) { return NUMBER; }
const char others[] = "two";
#endif
#else
#include "nvmove/nvmove.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hook {
  int (*call)(void);
  const char *text;
};

static NVM_POOL *pool;
static struct hook *hooks;
static const char text[] = "the program's own";

static const char *set(unsigned i, int (*call)(void), const char *words) {
  nvm_tx_begin(pool);
  hooks[i] = (struct hook){call, words};
  return nvm_tx_commit(pool) ? nvm_strerror() : "0";
}

static void *load(const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library)
    printf("%s\n", dlerror()), exit(1);
  return library;
}

static int (*function(void *library))(void) {
  void *found = dlsym(library, "answer");
  return (int (*)(void))(found ? found : dlsym(library, "second"));
}

static const char *words_of(void *library) {
  void *found = dlsym(library, "words");
  return found ? found : dlsym(library, "others");
}

// The next library lies where the last one lay, as nothing was mapped in between.
static void *replace(void *library, const char *path) {
  int (*before)(void) = function(library);
  dlclose(library);
  library = load(path);
  if (function(library) != before)
    printf("the libraries lie apart\n"), exit(1);
  return library;
}

static void look(const char *file, const char *first, const char *second) {
  load(first);
  load(second);
  pool = nvm_pool_open(file);
  if (!pool)
    printf("%s\n", nvm_strerror()), exit(1);
  hooks = nvm_pool_root(pool);
  if (!hooks[1].call) {
    nvm_tx_begin(pool);
    hooks[1].call = function(load(second));
    printf("%s", nvm_tx_commit(pool) ? nvm_strerror() : "");
  }
  nvm_pool_close(pool);
  pool = nvm_pool_open(file);
  hooks = nvm_pool_root(pool);
  printf("again: %d and %d\n", hooks[0].call ? hooks[0].call() : 0, hooks[1].call());
}

int main(int count, char **values) {
  const char *first = values[1], *second = values[2], *file = values[3], *how = values[4];
  setvbuf(stdout, NULL, _IONBF, 0);
  remove(file);
  pool = nvm_pool_create(file, 1 << 20);
  nvm_tx_begin(pool);
  hooks = nvm_calloc(pool, NVM_TYPE_ID(struct hook), 3, sizeof *hooks);
  nvm_pool_set_root(pool, hooks);
  nvm_tx_commit(pool);
  void *library = load(first);
  if (strcmp(how, "late") == 0) { // its symbols were read, and none was saved
    printf("unsafe: %d\n", strcmp(set(0, NULL, malloc(1)), "0") == 0);
    library = replace(library, second);
    const char *error = set(1, function(library), words_of(library));
    printf("first: %s, says %d\n", error, function(library)());
  } else {
    const char *error = set(0, function(library), words_of(library));
    printf("first: %s, says %d\n", error, function(library)());
    library = replace(library, second);
    printf("second: %s\n", set(1, function(library), NULL));
    if (strcmp(how, "kept") == 0 || strcmp(how, "name") == 0)
      printf("constant: %s\n", set(1, NULL, words_of(library)));
    if (strcmp(how, "kept") == 0) {
      printf("own: %s\n", set(2, NULL, text));
    }
  }
  nvm_pool_close(pool);
  if (strcmp(how, "copy") != 0) // two of them, which nothing tells apart
    look(file, first, second);
}
#endif
