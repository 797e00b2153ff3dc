// A pointer behind the end of a string, which C allows, commits; with AddressSanitizer, too, where nobody may read there.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %cc -O1 %s -o plain && ./plain pool && ./plain pool
// RUN: %cc -O1 -fsanitize=address %s -o asan && ./asan asan.pool && ./asan asan.pool
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>

struct range {
  const char *begin, *end;
};

int main(int count, char **values) {
  static const char *volatile text = "x";
  NVM_POOL *pool = nvm_pool_open(values[count - 1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    struct range *made = nvm_calloc(pool, NVM_TYPE_ID(struct range), 1, sizeof *made);
    made->begin = text;
    made->end = text + 2;
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct range *range = nvm_pool_root(pool);
  if (range->begin != text || range->end != text + 2)
    return fprintf(stderr, "leads elsewhere\n"), 4;
  return nvm_pool_close(pool);
}
