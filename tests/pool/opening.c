// `nvmove pool info` tells the method and the domain of the last opening by a program, not of its own look.
// RUN: %cc %s -o %t && rm -f %pool && env NVMOVE_METHOD=shadow NVMOVE_DOMAIN=disk NVMOVE_DURABLE=always %t %pool
// RUN: %nvmove pool info %pool | FileCheck --check-prefix=DISK %s && %nvmove pool check %pool
// RUN: %nvmove pool info %pool | FileCheck --check-prefix=DISK %s
// DISK: method shadow, domain disk (last opening)
// RUN: env NVMOVE_METHOD=shadow NVMOVE_DOMAIN=disk NVMOVE_DURABLE=1000 %t %pool
// RUN: %nvmove pool info %pool | FileCheck --check-prefix=LATER %s
// LATER: method shadow, domain disk, commits did not wait for the disk (last opening)
// RUN: %nvmove pool info --format=json %pool | FileCheck --check-prefix=JSON %s
// JSON-DAG: "delayed": true
// JSON-DAG: "domain": "disk"
// JSON-DAG: "method": "shadow"
// RUN: env NVMOVE_METHOD=undo NVMOVE_DOMAIN=power %t %pool && %nvmove pool info %pool | FileCheck --check-prefix=POWER %s
// POWER: method undo, domain power (last opening)
#include "nvmove/nvmove.h"

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  if (!pool && nvm_errno() == NVM_EMISSING)
    pool = nvm_pool_create(argv[1], 4 << 20);
  return !pool || nvm_tx_begin(pool) || nvm_pool_set_root(pool, nvm_alloc(pool, 0, 64)) ||
         nvm_tx_commit(pool) || nvm_pool_close(pool);
}
