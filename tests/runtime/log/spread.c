/* spread.c: short undo transactions begin behind one another in a bank, then at its start anew
 * (log.h); the power fails at each event of those that do, whose frames lie over older ones. */
#define _GNU_SOURCE
#include "harness.h"
#include "log/log.h"
#include "simulation.h"
#include "store.h"

#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 400, OTHER = 200, SHORT_MIN = 20, SHORT_MAX = 200, CUT_SHORT = 6 };

static NVM_POOL *pool;
static uint64_t *words;
static volatile uint64_t *acknowledged; /* shared with the process whose power fails */

static void begin(uint64_t n) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[0], n);
  STORE(words[OTHER], n);
}

/* Every third is preceded by one that is aborted. */
static void transaction(uint64_t n) {
  if (n % 3 == 0) {
    begin(0);
    CHECK(nvm_tx_abort(pool) == 0);
  }
  begin(n);
  CHECK(nvm_tx_commit(pool) == 0);
  *acknowledged = n;
}

static void prepare(void *path) {
  pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static bool begins_anew(void) { return pool->logs[0]->cursor->at == sizeof(struct nvm_segment); }

static void act(void *cut) {
  *acknowledged = 0;
  power_arm(cut);
  power_hold(true);
  pool = test_open(((const struct power_cut *)cut)->path);
  words = nvm_pool_root(pool);
  uint64_t n = 1;
  do
    transaction(n);
  while (n++ < 2 || !begins_anew());
  CHECK(n > SHORT_MIN && n < SHORT_MAX);
  power_hold(false);
  for (uint64_t end = n + CUT_SHORT; n < end; n++)
    transaction(n);
  _exit(0);
}

static void verify(const char *image) {
  NVM_POOL *left = test_open(image);
  const uint64_t *found = nvm_pool_root(left);
  CHECK(found[0] == found[OTHER]);
  CHECK(found[0] == *acknowledged || found[0] == *acknowledged + 1);
  CHECK(nvm_pool_close(left) == 0);
}

TEST_ONCE(power_failure_where_a_bank_begins_anew) {
  acknowledged = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(acknowledged != MAP_FAILED);
  power_fail_everywhere("undo", prepare, act, verify);
}
