// A split point where the data are not whole, in a run that is too short for a split.
// RUN: %seeded %s
#include "seeded.h"

struct account {
  long credit, debit;
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct account *a = nvm_pool_root(pool);
  return a && a->credit != a->debit;
}
#else
static struct account *a;
static volatile int entered;

NVM_SPLIT_POINT __attribute__((noinline)) static void next_request(void) {
  entered = 1; // FOUND: checker
}
NVM_COMMIT_POINT __attribute__((noinline)) static void wait_for_more(void) { entered = 2; }

int main(int argc, char **argv) {
  a = CREATE(argv, struct account);
  for (int i = 1; i < 4; i++) {
    a->credit = i;
#ifdef BUG
    next_request();
#endif
    a->debit = i;
    next_request();
  }
  wait_for_more();
  return nvm_pool_close(pool);
}
#endif
