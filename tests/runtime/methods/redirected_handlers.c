/* redirected_handlers.c: a signal handler that interrupts libnvmove reads what its thread has stored last, by calls
 * and in place.
 */
#include "harness.h"

#include "nvmove/abi.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { BYTES = 300, INTERRUPTIONS = 400, ROUNDS_MAX = 2000000 };

static struct {
  NVM_POOL *pool;
  unsigned char *bytes;
  pthread_mutex_t lock;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What all bytes are; negative: they are being stored. */
static volatile sig_atomic_t stored = -1, came, wrong;

static bool are(const volatile unsigned char *bytes, int value) {
  for (unsigned i = 0; i < BYTES; i++)
    if (bytes[i] != value)
      return false;
  return true;
}

static void look(int signal) {
  unsigned char copy[BYTES];
  int value = stored;
  (void)signal;
  if (value < 0)
    return;
  came++;
  __nvm_copy(copy, all.bytes, BYTES);
  wrong += __nvm_get(&all.bytes[7], 1) != (unsigned)value || !are(copy, value);
  if (came % 2)
    __nvm_settle_all();
  else
    __nvm_settle(all.bytes, BYTES);
  wrong += !are(all.bytes, value) || __nvm_get(&all.bytes[BYTES - 1], 1) != (unsigned)value;
}

static void one_round(unsigned round, bool aborts) {
  CHECK(nvm_tx_begin(all.pool) == 0);
  pthread_mutex_lock(&all.lock);
  for (unsigned i = 0; i < BYTES; i++)
    __nvm_put(&all.bytes[i], round % 128, 1);
  stored = (int)(round % 128);
  void *block = nvm_alloc(all.pool, 0, 100);
  CHECK(block && nvm_free(block) == 0);
  if (round % 4 < 2)
    pthread_mutex_unlock(&all.lock);
  for (unsigned i = 0; i < 10; i++)
    __nvm_put(&all.bytes[BYTES + i * 64], round, 1);
  if (aborts)
    stored = -1;
  CHECK((aborts ? nvm_tx_abort : nvm_tx_commit)(all.pool) == 0);
  stored = -1;
  if (round % 4 >= 2)
    pthread_mutex_unlock(&all.lock);
}

TEST_WRAPPED(handlers_read_what_is_new) {
  __nvm_describe_accesses(NVM_REDIRECTED, &NVM_REDIRECTED[1]);
  all.pool = test_create(test_path("pool"), 4 << 20);
  CHECK(nvm_tx_begin(all.pool) == 0);
  CHECK((all.bytes = nvm_calloc(all.pool, 0, 1, 2000)) != NULL && nvm_tx_commit(all.pool) == 0);
  signal(SIGALRM, look);
  const struct itimerval often = {{0, 130}, {0, 130}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  unsigned last = 0;
  for (unsigned round = 0; came < INTERRUPTIONS && round < ROUNDS_MAX; round++) {
    bool aborts = round % 7 == 6;
    one_round(round, aborts);
    last = aborts ? last : round % 128;
    unsigned char copy[BYTES];
    __nvm_copy(copy, all.bytes, BYTES);
    CHECK(are(copy, (int)last));
  }
  setitimer(ITIMER_REAL, &never, NULL);
  CHECK(came >= INTERRUPTIONS && wrong == 0);
  CHECK(nvm_pool_close(all.pool) == 0);
}
