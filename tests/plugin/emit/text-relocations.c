// A library whose text the loader relocates lies elsewhere in each process, and is the same build all the same.
// RUN: clang-19 -O1 -w -fno-pic -mcmodel=large -shared -Wl,-z,notext -fuse-ld=lld-19 -DLIBRARY %s -o %t.so
// RUN: readelf -d %t.so | grep -q TEXTREL
// RUN: %cc -O1 %s %t.so -o %t
// RUN: rm -f %t.pool && %t %t.pool | grep -x made
// RUN: %t %t.pool | grep -x "two 22"
// RUN: setarch -R %t %t.pool | grep -x "two 22"
#ifdef LIBRARY
static int first(int number) { return number + 1; }
static int second(int number) { return number + 2; }
const char *const names[] = {"one", "two"};
int (*const functions[])(int) = {first, second};
#else
#include "nvmove/nvmove.h"

#include <stdio.h>

extern const char *const names[];
extern int (*const functions[])(int);

struct root {
  NVM_STATIC_PTR(const char) name;
  int (*function)(int);
};

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  struct root *root = pool ? nvm_pool_root(pool) : NULL;
  if (root) {
    printf("%s %d\n", root->name, root->function(20));
    return nvm_pool_close(pool);
  }
  if (nvm_errno() != NVM_EMISSING || !(pool = nvm_pool_create(argv[1], 2 << 20))) {
    puts(nvm_strerror());
    return 1;
  }
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  root->name = names[1];
  root->function = functions[1];
  if (nvm_tx_commit(pool)) {
    puts(nvm_strerror());
    return 2;
  }
  puts("made");
  return nvm_pool_close(pool);
}
#endif
