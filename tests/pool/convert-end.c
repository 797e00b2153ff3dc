// `nvmove pool convert` takes pointers to the end of an array along, also where the array fills its block and no block
// begins there.
// RUN: %cc -DOLD %s -o %t.old && %cc %s -o %t && rm -f %pool %pool.new && %t.old %pool && %nvmove pool check %pool
// RUN: %nvmove pool convert %pool %pool.new --layouts %t && %t %pool.new && %nvmove pool check %pool.new
// The same types.
// RUN: rm %pool.new && %nvmove pool convert %pool %pool.new --size 16M && %t.old %pool.new && %nvmove pool check %pool.new
// An end that is none of whole elements leads to nothing.
// RUN: cp %pool %pool.odd && %t.old %pool.odd odd && rm %pool.new
// RUN: %exit 2 %nvmove pool convert %pool.odd %pool.new --layouts %t 2>&1 | FileCheck %s
// CHECK: error: field odd of struct root at @0x{{.*}} leads to nothing
#include "nvmove/nvmove.h"

struct pair {
  long key, value;
#ifndef OLD
  long count;
#endif
};
struct row {
  long count;
  struct pair pairs[];
};
struct root {
  struct pair *begin, *end;
  struct row *row;
  struct pair *row_end;
  char *bytes, *bytes_end;
  struct triple {
    long numbers[3];
#ifndef OLD
    long more;
#endif
  } *odd_begin, *odd, *odd_end;
};
enum { PAIRS = 6, BYTES = 112 };

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  struct root *r = pool ? nvm_pool_root(pool) : NULL;
  if (argc > 2)
    return !r || nvm_tx_begin(pool) || (r->odd = (void *)((char *)r->odd_begin + nvm_usable_size(r->odd_begin)), 0) ||
           nvm_tx_commit(pool) || nvm_pool_close(pool);
  if (pool)
    return !(r->end == r->begin + PAIRS && r->row_end == r->row->pairs + r->row->count && r->begin[5].value == 35 &&
             r->row->pairs[r->row->count - 1].key == 7 && r->bytes_end == r->bytes + BYTES &&
             r->odd_end == r->odd_begin + 2) ||
           nvm_pool_close(pool);
  pool = nvm_pool_create(argv[1], 4 << 20);
  if (!pool || nvm_tx_begin(pool))
    return 2;
  r = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *r);
  r->begin = nvm_calloc(pool, NVM_TYPE_ID(struct pair), PAIRS, sizeof(struct pair)); // 96 bytes
  r->end = r->begin + PAIRS;
  for (int i = 0; i < PAIRS; i++)
    r->begin[i] = (struct pair){i, 30 + i};
  r->row = nvm_calloc(pool, NVM_TYPE_ID(struct row), 1, 16 + 8 * sizeof(struct pair));
  r->row->count = (nvm_usable_size(r->row) - sizeof(struct row)) / sizeof(struct pair);
  r->row_end = r->row->pairs + r->row->count;
  r->row->pairs[r->row->count - 1].key = 7;
  r->bytes = nvm_calloc(pool, 0, 1, BYTES);
  r->bytes_end = r->bytes + BYTES;
  r->odd_begin = nvm_calloc(pool, NVM_TYPE_ID(struct triple), 1, 64);
  r->odd_end = r->odd_begin + 2; // they do not fill the block
  for (int i = 0; i < 3; i++)
    if (nvm_usable_size(i == 0 ? (void *)r->begin : i == 1 ? (void *)r->bytes : (void *)r->row) %
        (i == 1 ? BYTES : i ? 8 : 96))
      return 3; // they do not fill their blocks
  return nvm_pool_set_root(pool, r) || nvm_tx_commit(pool) || nvm_pool_close(pool);
}
