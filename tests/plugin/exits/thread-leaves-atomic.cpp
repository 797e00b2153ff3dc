// A thread ends inside of an atomic function. A destructor on the way throws and catches: what is open is undone all the same.
// RUN: %cxx -O0 -pthread %s -o %t && rm -f %t.pool && %t %t.pool
// RUN: %cxx -O2 -pthread %s -o %t && rm -f %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
extern "C" {
#include "nvmove/nvmove.h"
}
#include <pthread.h>

struct pair {
  long from, to;
};
static pair *both;

struct guard {
  long caught = 0;
  __attribute__((noinline)) static void fail() { throw 1; }
  ~guard() {
    try {
      fail();
    } catch (int code) {
      caught += code;
    }
  }
};

NVM_ATOMIC __attribute__((noinline)) static void transfer() {
  both->from--;
  pthread_exit(nullptr);
  both->to++;
}

static void *run(void *unused) {
  guard here;
  transfer();
  return unused;
}

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  both = static_cast<pair *>(nvm_calloc(pool, 0, 1, sizeof *both));
  nvm_pool_set_root(pool, both);
  nvm_tx_commit(pool);
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  pthread_join(thread, nullptr);
  return both->from != 0 || both->to != 0 || nvm_pool_close(pool) != 0;
}
