// A child of fork loads a library that describes a type of its own, while the parent's pool counts references: the
// child has not the file, and goes on.
// RUN: %cc -O1 -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %cc -O1 %s -o %t -ldl
// RUN: rm -f %t.pool && env NVMOVE_METHOD=undo %t %t.so %t.pool
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow %t %t.so %t.pool
#include "nvmove/nvmove.h"

#ifdef LIBRARY
struct inside {
  struct inside *next;
  long number;
};
void *make(NVM_POOL *pool) { return nvm_alloc(pool, NVM_TYPE_ID(struct inside), sizeof(struct inside)); }
#else
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
  struct node *next;
};

int main(int argc, char **argv) {
  int status = argc;
  NVM_POOL *pool = nvm_pool_create(argv[2], 4 << 20);
  nvm_tx_begin(pool);
  nvm_pool_set_root(pool, nvm_calloc(pool, NVM_TYPE_ID(struct node), 1, sizeof(struct node)));
  nvm_tx_commit(pool);
  if (nvm_pool_count_references(pool))
    return 1;
  pid_t child = fork();
  if (!child)
    _exit(dlopen(argv[1], RTLD_NOW) ? 0 : 1);
  if (waitpid(child, &status, 0) != child || status)
    return 2;
  return nvm_pool_close(pool) ? 3 : 0;
}
#endif
