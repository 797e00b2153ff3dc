// A block whose bytes go directly to the file is there in each state in which its record is.
// RUN: %cc -O1 %s -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=shadow %crash --epoch-states 4096 --samples 256 -- %t %pool | FileCheck %s
// CHECK: no finding: every state
#include "nvmove/nvmove.h"

typedef NVM_STRUCT Large {
  long count;
  NVM_PTR(struct Large) next;
  char bytes[300000];
}
Large;

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[argc - 1], 4 << 20);
  for (long i = 0; i < 3; i++) {
    nvm_tx_begin(pool);
    Large *large = nvm_alloc(pool, NVM_TYPE_ID(Large), sizeof *large);
    large->count = i + 7;
    large->next = nvm_pool_root(pool);
    nvm_pool_set_root(pool, large);
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
