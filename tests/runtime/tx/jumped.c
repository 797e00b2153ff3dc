/* jumped.c: a signal handler jumps out of a post, wherever that is. */
#include "harness.h"
#include "order/order.h"
#include "store.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum {
  WORDS = 1 << 18,
  LINE_WORDS = 8,
  ROUNDS = 24,
  STEP_US = 300,
  SOON_US = 1000,
  LATE_US = 5000
};

static sigjmp_buf landing;
static volatile sig_atomic_t armed, jumps;
static sem_t semaphore;

static void jump(int signal_number) {
  (void)signal_number;
  if (!armed)
    return;
  armed = 0;
  jumps++;
  siglongjmp(landing, 1);
}

static void post_within(suseconds_t time) {
  const struct itimerval timer = {.it_value = {.tv_usec = time}};
  if (sigsetjmp(landing, 1))
    return;
  armed = 1;
  CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  CHECK(sem_post(&semaphore) == 0);
  armed = 0;
}

/* Outside a transaction the post commits; inside it hands on. */
static void one_round(NVM_POOL *pool, uint64_t *words, uint64_t round) {
  bool inside = round & 1;
  if (inside)
    CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < WORDS; i += LINE_WORDS)
    STORE(words[i], round);
  post_within((suseconds_t)(round / 2 * STEP_US + 1));
  if (!inside)
    CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[0], words[0] + 1);
  CHECK(nvm_tx_commit(pool) == 0);
  for (unsigned i = 0; i < WORDS; i += LINE_WORDS)
    CHECK(words[i] == round + !i);
}

TEST(jumped_out_of_a_post) {
  NVM_POOL *pool = test_create(test_path("pool"), 32 << 20);
  CHECK(sem_init(&semaphore, 0, 0) == 0 && signal(SIGALRM, jump) != SIG_ERR);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  for (uint64_t round = 2; round < ROUNDS + 2; round++)
    one_round(pool, words, round);
  CHECK(jumps);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  CHECK(*(uint64_t *)nvm_pool_root(pool) == ROUNDS + 2 && nvm_pool_close(pool) == 0);
}

static _Atomic bool holds;

static void *hold_order(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  nvmi_order_lock();
  holds = true;
  usleep(LATE_US);
  nvmi_order_unlock();
  return unused;
}

static void post(int signal_number) {
  (void)signal_number;
  CHECK(sem_post(&semaphore) == 0);
}

static void raise_within(suseconds_t time) {
  const struct itimerval timer = {.it_value = {.tv_usec = time}};
  if (sigsetjmp(landing, 1))
    return;
  armed = 1;
  CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0 && raise(SIGUSR1) == 0);
  while (armed)
    ;
}

/* The post of one handler waits for another thread when the other handler comes. */
TEST(jumped_out_of_the_post_of_another_handler) {
  pthread_t thread;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(sem_init(&semaphore, 0, 0) == 0);
  CHECK(signal(SIGALRM, jump) != SIG_ERR && signal(SIGUSR1, post) != SIG_ERR);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *word = nvm_calloc(pool, 0, 1, sizeof *word);
  CHECK(word && nvm_pool_set_root(pool, word) == 0);
  CHECK(pthread_create(&thread, NULL, hold_order, NULL) == 0);
  while (!holds)
    usleep(10);
  raise_within(SOON_US);
  CHECK(!nvmi_in_order && jumps == 1);
  CHECK(pthread_join(thread, NULL) == 0 && nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}
