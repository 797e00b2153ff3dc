/* fill.c: what `nvmove crash` is timed with: transactions of eight stores in a pool of 64 MiB.
 *
 * usage: fill COUNT POOL; fill check POOL, which opens it and reads: 0 is right
 */
#include "nvmove/nvmove.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 1000, WORDS = 8, STORES = 8 };

struct records {
  long words[RECORDS][WORDS];
};

static int check(const char *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  const struct records *r = nvm_pool_root(pool);
  for (int i = 0; pool && r && i < RECORDS; i++)
    if (r->words[i][0] < 0)
      return 1;
  return !pool;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "check") == 0)
    return check(argv[2]);
  NVM_POOL *pool = argc == 3 ? nvm_pool_create(argv[2], 64 << 20) : NULL;
  if (!pool)
    return 2;
  nvm_tx_begin(pool);
  struct records *r = nvm_calloc(pool, NVM_TYPE_ID(struct records), 1, sizeof *r);
  nvm_pool_set_root(pool, r);
  nvm_tx_commit(pool);
  unsigned random = 1;
  for (long i = atol(argv[1]); i > 0; i--) {
    nvm_tx_begin(pool);
    for (int j = 0; j < STORES; j++) {
      random = random * 1103515245 + 12345;
      r->words[(random >> 8) % RECORDS][j] = i;
    }
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
