/* till.c: a cash register that loses no sale. usage: till POOL < AMOUNTS
 *
 * Each line of standard input is an amount in cents. A sale is answered when it is durable.
 */
#include "till.h"

#include <nvmove/nvmove.h>
#include <stdio.h>
#include <stdlib.h>

static NVM_POOL *pool;
static struct till *till;

static int sell(long cents) {
  nvm_tx_begin(pool);
  struct sale *sale = nvm_calloc(pool, NVM_TYPE_ID(struct sale), 1, sizeof *sale);
  if (!sale) {
    nvm_tx_abort(pool);
    return -1;
  }
  sale->cents = cents;
  sale->next = till->sales;
  till->sales = sale;
  till->total += cents;
  return nvm_tx_commit(pool);
}

static int open_till(const char *path) {
  pool = nvm_pool_open(path);
  if (!pool)
    pool = nvm_pool_create(path, 1 << 20);
  if (!pool)
    return -1;
  till = nvm_pool_root(pool);
  if (till)
    return 0;
  nvm_tx_begin(pool); /* it is new, or died before this was committed */
  till = nvm_calloc(pool, NVM_TYPE_ID(struct till), 1, sizeof *till);
  nvm_pool_set_root(pool, till);
  return nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  char line[32];
  if (argc != 2 || open_till(argv[1])) {
    fprintf(stderr, "till: %s\n", argc == 2 ? nvm_strerror() : "usage: till POOL < AMOUNTS");
    return 1;
  }
  while (fgets(line, sizeof line, stdin)) {
    if (sell(atol(line))) {
      fprintf(stderr, "till: %s\n", nvm_strerror());
      return 1;
    }
    puts("sold");
  }
  printf("total %ld\n", till->total);
  return nvm_pool_close(pool) != 0;
}
