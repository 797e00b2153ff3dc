/* switching.c: a log that goes through both of its banks (checkpoint.h), and the power fails at each event
 * around a switch.
 *
 * One thread commits once, and stays; its log keeps that record. Another overwrites one of its
 * words, then has so many further transactions that its own record of that is gone.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "log/checkpoint.h"
#include "simulation.h"
#include "store.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  WORDS = 400,
  SHARED = 0,  /* written by transactions 1 and 2 */
  FIRST = 100, /* a block, by transaction 1 */
  SECOND = 200,
  SIZE = 500,
  BANK = 253 /* records of one line that fill a bank */
};

static NVM_POOL *pool;
static uint64_t *words, from, to;       /* transactions at which the power may fail */
static volatile uint64_t *acknowledged; /* shared with the process whose power fails */
static sem_t committed, never;

static void transaction(uint64_t n) {
  power_hold(n < from);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[n > 2 ? SECOND : SHARED], n);
  if (n == 1)
    STORE(words[FIRST], (uint64_t)(uintptr_t)nvm_alloc(pool, 0, SIZE));
  CHECK(nvm_tx_commit(pool) == 0);
  *acknowledged = n;
}

static void *commit_once(void *unused) {
  transaction(1);
  sem_post(&committed);
  sem_wait(&never);
  return unused;
}

static void prepare(void *path) {
  pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void act(void *cut) {
  *acknowledged = 0;
  power_arm(cut);
  power_hold(true);
  pool = test_open(((const struct power_cut *)cut)->path);
  words = nvm_pool_root(pool);
  sem_init(&committed, 0, 0);
  sem_init(&never, 0, 0);
  transaction(0); /* no log is made later: that would have all threads pass a barrier */
  pthread_t first;
  CHECK(pthread_create(&first, NULL, commit_once, NULL) == 0 && sem_wait(&committed) == 0);
  for (uint64_t n = 2; n <= to; n++)
    transaction(n);
  _exit(0);
}

static void verify(const char *image) {
  NVM_POOL *left = test_open(image);
  const uint64_t *found = nvm_pool_root(left);
  uint64_t last = *acknowledged;
  struct nvm_usage usage;
  CHECK(found[SHARED] == 2 && found[FIRST]);
  CHECK(nvm_pool_usage(left, &usage) == 0 && usage.blocks == 2);
  CHECK(found[SECOND] == last || found[SECOND] == last + 1);
  CHECK(nvm_pool_close(left) == 0);
}

static void run(uint64_t first, uint64_t last) {
  from = first, to = last;
  acknowledged = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(acknowledged != MAP_FAILED);
  power_fail_everywhere("shadow", prepare, act, verify);
}

/* Nobody but the second thread fences what the first stored in place. */
TEST_ONCE(power_failure_at_a_switch) { run(BANK - 1, BANK + 4); }

/* Back in the first bank, whose old records are overwritten one by one. */
TEST_ONCE(power_failure_at_a_second_switch) { run(2 * BANK - 1, 2 * BANK + 5); }

/* A log stays in a bank in which no record is durable. */
TEST_ONCE(switch_needs_a_record) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  prepare((void *)(uintptr_t)test_path("pool"));
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[0], 1);
  CHECK(nvm_tx_commit(pool) == 0);
  struct nvmi_log *log = pool->logs[0];
  unsigned bank = log->bank;
  CHECK(nvmi_log_switch(log) && log->bank != bank);
  CHECK(!nvmi_log_switch(log) && log->bank != bank);
  CHECK(nvm_pool_close(pool) == 0);
}
