/* memory.h: where table.c and tree.c get their memory from, the one difference between the twins.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#ifdef PERSISTENT
#include "nvmove/nvmove.h"

static NVM_POOL *pool;

static inline void memory_make(const char *path, size_t bytes) {
  pool = nvm_pool_create(path, bytes);
  if (!pool) {
    fprintf(stderr, "%s\n", nvm_strerror());
    exit(1);
  }
}

#define ALLOCATE(type, bytes) nvm_alloc(pool, NVM_TYPE_ID(type), bytes)
#else
#define NVM_ATOMIC

static inline void memory_make(const char *path, size_t bytes) { (void)path, (void)bytes; }

#define ALLOCATE(type, bytes) malloc(bytes)
#endif
