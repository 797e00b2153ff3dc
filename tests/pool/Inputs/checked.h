/* Two programs in one file, with V=0 and V=1: `fill` makes a pool, and `check` says what it has to have after the
 * conversion. The first line says what becomes of it: see changed.py. */
#include "nvmove/nvmove.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad;
#define C(what)                                                                                    \
  do {                                                                                             \
    if (!(what)) {                                                                                 \
      bad++;                                                                                       \
      printf("line %d: %s\n", __LINE__, #what);                                                    \
    }                                                                                              \
  } while (0)
#define NEW(T) ((T *)nvm_calloc(P, NVM_TYPE_ID(T), 1, sizeof(T)))
#define NEWN(T, n) ((T *)nvm_calloc(P, NVM_TYPE_ID(T), n, sizeof(T)))

void fill(NVM_POOL *P);
void check(NVM_POOL *P);

int main(int count, char **words) {
  (void)count;
  NVM_POOL *pool = V ? nvm_pool_open(words[1]) : nvm_pool_create(words[1], 4 << 20);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
#if V
  check(pool);
#else
  nvm_tx_begin(pool);
  fill(pool);
  if (nvm_tx_commit(pool))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
#endif
  if (nvm_pool_close(pool))
    return 1;
  if (!bad)
    puts("right");
  return bad;
}
