// A function that is found at run time stores.
// RUN: %seeded %s -- -ldl
#define _GNU_SOURCE
#include "seeded.h"

#include <dlfcn.h>

struct text {
  char bytes[40];
};

int main(int argc, char **argv) {
  struct text *t = CREATE(argv, struct text);
  void *(*volatile found)(void *, const void *, size_t) = dlsym(RTLD_DEFAULT, "memcpy");
  nvm_tx_begin(pool);
#ifdef BUG
  found(t->bytes, "found at run time", 18); // FOUND: unseen store
#else
  memcpy(t->bytes, "found at run time", 18);
#endif
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
