// A call that must be a tail call has no place behind it: what it may write is noted for its own transaction alone, and
// a later abort leaves what another thread has committed there.
// RUN: %cc -O2 %s -o %t
// RUN: rm -f %t.pool && env NVMOVE_METHOD=undo %t %t.pool && rm -f %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
#include "nvmove/nvmove.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct root {
  char input[64];
  long number;
};
static NVM_POOL *pool;
static struct root *root;

__attribute__((noinline)) static ssize_t input(int file, void *to, size_t size) {
  __attribute__((musttail)) return read(file, to, size);
}

static void *commit_other(void *unused) {
  nvm_tx_begin(pool);
  strcpy(root->input, "other");
  nvm_tx_commit(pool);
  return unused;
}

int main(int argc, char **argv) {
  pthread_t other;
  int file = open(argv[0], O_RDONLY);
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  if (input(file, root->input, sizeof root->input) != sizeof root->input)
    return 1;
  nvm_tx_commit(pool);
  if (memcmp(root->input, "\177ELF", 4))
    return 2;
  nvm_tx_begin(pool);
  root->number = argc;
  pthread_create(&other, NULL, commit_other, NULL);
  pthread_join(other, NULL);
  nvm_tx_abort(pool);
  return strcmp(root->input, "other") || root->number ? 3 : nvm_pool_close(pool);
}
