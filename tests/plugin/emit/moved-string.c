// A string of the program that only a library has now: the pointer leads there, and what lies there when the library
// was closed is something else.
// RUN: %cc -O1 -DTEXT='"some text of several"' %s -o %t.1 -ldl
// RUN: %cc -O1 -shared -fPIC -DLIBRARY -DTEXT='"some text of several"' %s -o %t.a.so
// RUN: %cc -O1 -shared -fPIC -DLIBRARY -DTEXT='"text that is another"' %s -o %t.b.so
// RUN: %cc -O1 -DTEXT='""' %s -o %t.2 -ldl
// RUN: rm -f %t.pool && %t.1 %t.pool && %exit 1 %t.2 %t.pool 2>&1 | FileCheck --check-prefix=GONE %s
// GONE: points to the text "some text of several", which the program lacks
// RUN: %t.2 %t.pool %t.a.so %t.b.so 2>&1 | FileCheck %s
// CHECK: some text of several
// CHECK-NEXT: {{.*}}unsafe pointer: field text of the struct hook
#ifdef LIBRARY
const char *text(void) { return TEXT; }
#else
#include "nvmove/nvmove.h"

#include <dlfcn.h>
#include <stdio.h>

struct hook {
  const char *text;
};

static const char *text_of(void *library) {
  const char *(*text)(void) = (const char *(*)(void))dlsym(library, "text");
  return text();
}

int main(int count, char **values) {
  void *library = count > 2 ? dlopen(values[2], RTLD_NOW) : NULL;
  const char *before = library ? text_of(library) : NULL;
  NVM_POOL *pool = nvm_pool_open(values[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    struct hook *made = nvm_calloc(pool, NVM_TYPE_ID(struct hook), 1, sizeof *made);
    made->text = TEXT;
    nvm_pool_set_root(pool, made);
    return nvm_tx_commit(pool) || nvm_pool_close(pool);
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  struct hook *hook = nvm_pool_root(pool);
  fprintf(stderr, "%s\n", hook->text);
  dlclose(library);
  library = dlopen(values[3], RTLD_NOW);
  if (text_of(library) != before)
    return fprintf(stderr, "the libraries lie apart\n"), 2;
  nvm_tx_begin(pool);
  hook->text = text_of(library);
  fprintf(stderr, "%s\n", nvm_tx_commit(pool) ? nvm_strerror() : "committed");
  return nvm_pool_close(pool) != 0;
}
#endif
