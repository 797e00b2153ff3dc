/* A program whose types are others with V=1 than with V=0. It makes a pool with the first, opens it with the second,
 * and prints what it has. Each file says behind its first comment what the two have to print, or why the pool is
 * not converted: see changed.py. */
#include "nvmove/nvmove.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEW(T) ((T *)nvm_calloc(pool, NVM_TYPE_ID(T), 1, sizeof(T)))
#define NEWS(T, n) ((T *)nvm_calloc(pool, NVM_TYPE_ID(T), n, sizeof(T)))

static NVM_POOL *pool;
static void *fill(void);
static void show(void *root);

static int make(void) {
  nvm_tx_begin(pool);
  nvm_pool_set_root(pool, fill());
  return nvm_tx_commit(pool);
}

int main(int count, char **words) {
  (void)count;
  pool = V ? nvm_pool_open(words[1]) : nvm_pool_create(words[1], 8 << 20);
  if (!pool || (!V && make()))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  show(nvm_pool_root(pool));
  return nvm_pool_close(pool);
}
