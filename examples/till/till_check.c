/* till_check.c: is the till right? `nvmove crash --check ./till_check.so` asks it about each state. */
#include "till.h"

#include <nvmove/nvmove.h>
#include <stdio.h>

int nvm_crash_check(NVM_POOL *pool) {
  const struct till *till = nvm_pool_root(pool);
  long sum = 0;
  if (!till) /* nothing is committed yet */
    return 0;
  for (const struct sale *sale = till->sales; sale; sale = sale->next)
    sum += sale->cents;
  if (sum == till->total)
    return 0;
  printf("the sales make %ld, the total says %ld\n", sum, till->total);
  return 1;
}
