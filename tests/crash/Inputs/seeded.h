/* seeded.h: what every program with a seeded bug needs: a pool with a root of zeros. */
#pragma once

#include "nvmove/nvmove.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static NVM_POOL *pool;

static inline void *create(const char *path, uint64_t type, size_t size) {
  pool = nvm_pool_create(path, 1 << 20);
  if (!pool)
    abort();
  nvm_tx_begin(pool);
  void *root = nvm_calloc(pool, type, 1, size);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  return root;
}

#define CREATE(argv, record) create((argv)[1], NVM_TYPE_ID(record), sizeof(record))
