/* thread_ends.c: destructors and signal handlers store while a thread ends. */
#define _GNU_SOURCE
#include "base/own_locks.h"
#include "core/pool.h"
#include "core/thread.h"
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_key_t late_key;
static unsigned late_rounds; /* in which the destructor stores */
static uint64_t *late_words;

static void store_late(void *round) {
  unsigned number = (unsigned)(uintptr_t)round;
  if (number <= late_rounds)
    STORE(late_words[number], number);
  if (number < PTHREAD_DESTRUCTOR_ITERATIONS)
    pthread_setspecific(late_key, (void *)(uintptr_t)(number + 1));
}

static void *end_late(void *argument) {
  STORE(late_words[0], 1); /* the key of libnvmove's destructor exists before the other one */
  CHECK(pthread_key_create(&late_key, store_late) == 0);
  CHECK(pthread_setspecific(late_key, (void *)1) == 0);
  return argument;
}

static void run_late(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  nvm_tx_begin(pool);
  late_words = nvm_calloc(pool, 0, 8, 8);
  CHECK(nvm_pool_set_root(pool, late_words) == 0 && nvm_tx_commit(pool) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, end_late, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(late_words[late_rounds] == late_rounds);
  kill(getpid(), SIGKILL);
}

/* What a destructor stores is committed in its round: libnvmove's own destructor comes last. AddressSanitizer
 * has left the thread by the fourth round; tests/driver/last-destructor.test tries that one. */
TEST(thread_specific_destructors_store) {
#if __has_feature(thread_sanitizer)
  test_skip("ThreadSanitizer has left the thread before its last round of destructors");
#endif
  for (late_rounds = 1; late_rounds < PTHREAD_DESTRUCTOR_ITERATIONS; late_rounds++) {
    CHECK(test_child(NULL, run_late, NULL) == SIGKILL);
    NVM_POOL *pool = test_open(test_path("pool"));
    const uint64_t *words = nvm_pool_root(pool);
    for (unsigned i = 1; i <= late_rounds; i++)
      CHECK(words[i] == i);
    CHECK(nvm_pool_close(pool) == 0 && unlink(test_path("pool")) == 0);
  }
}

enum { ENDS = 200 };
static volatile uint64_t *handled; /* a word for each thread that ends; shared with the parent */
static volatile uint64_t runs;     /* of the handler, in all threads */
static uint64_t *kept;             /* the same in the pool */
static _Thread_local unsigned ending;

static void store_handled(int number) {
  (void)number;
  STORE(kept[ending], kept[ending] + 1);
  handled[ending]++;
  runs++;
}

static void *end_at_once(void *number) {
  ending = (unsigned)(uintptr_t)number;
  STORE(kept[ENDS], ending);
  return NULL;
}

/* Again and again, a moment after the last signal's handler: a thread that finds the next signal
 * at each return from one does nothing else, until the room for its handlers' stores is full. */
static void signal_until_it_ends(pthread_t thread, unsigned seed) {
  uint64_t last = runs;
  pthread_kill(thread, SIGUSR1);
  while (pthread_tryjoin_np(thread, NULL) == EBUSY) {
    if (runs == last)
      continue;
    last = runs;
    seed = seed * 1103515245 + 12345;
    for (volatile unsigned wait = seed >> 16 & 1023; wait; wait--)
      ;
    pthread_kill(thread, SIGUSR1);
  }
}

static void run_ends(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  nvm_tx_begin(pool);
  kept = nvm_calloc(pool, 0, ENDS + 1, 8);
  CHECK(nvm_pool_set_root(pool, kept) == 0 && nvm_tx_commit(pool) == 0);
  signal(SIGUSR1, store_handled);
  for (uintptr_t i = 0; i < ENDS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_at_once, (void *)i) == 0);
    signal_until_it_ends(thread, (unsigned)i);
  }
  kill(getpid(), SIGKILL);
}

/* At any instruction of a thread's end. */
TEST(handlers_store_while_threads_end) {
#if __has_feature(thread_sanitizer)
  test_skip("ThreadSanitizer has left the thread before its last round of destructors");
#endif
  handled =
      mmap(NULL, ENDS * sizeof *handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(handled != MAP_FAILED);
  CHECK(test_child(NULL, run_ends, NULL) == SIGKILL);
  NVM_POOL *pool = test_open(test_path("pool"));
  const uint64_t *words = nvm_pool_root(pool);
  for (unsigned i = 0; i < ENDS; i++)
    CHECK(words[i] == handled[i]);
  CHECK(nvm_pool_close(pool) == 0);
}

static void leave_at_commit(enum nvmi_step step) {
  if (step == NVMI_STEP_COMMIT)
    pthread_exit(NULL);
}

static void *commit_and_end(void *pool) {
  nvm_tx_begin(pool);
  STORE(*(uint64_t *)nvm_pool_root(pool), 1);
  hook_steps(leave_at_commit);
  nvm_tx_commit(pool);
  return NULL;
}

/* As in a thread's first store, which makes it a log: at work is who has that. */
static void *lock_and_end(void *pool) {
  nvm_tx_begin(pool);
  nvmi_lock(&((NVM_POOL *)pool)->lock);
  pthread_exit(NULL);
}

static void run_and_end(void *end) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  nvm_tx_begin(pool);
  CHECK(nvm_pool_set_root(pool, nvm_calloc(pool, 0, 1, 8)) == 0 && nvm_tx_commit(pool) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, *(void *(**)(void *))end, pool) == 0 &&
        pthread_join(thread, NULL) == 0);
}

/* As by an asynchronous cancellation: nobody goes on without knowing. */
static void check_ended(void *(*end)(void *)) {
  char said[1000];
  int status = test_child_says(run_and_end, &end, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(said, "a thread ended inside libnvmove"));
  NVM_POOL *pool = test_open(test_path("pool"));
  CHECK(nvm_pool_close(pool) == 0);
}
TEST(thread_that_ends_amid_a_commit) { check_ended(commit_and_end); }
TEST(thread_that_ends_with_a_lock_of_the_runtime) { check_ended(lock_and_end); }

static NVM_POOL *shared;
static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned turn;

static void await_turn(unsigned number) {
  while (turn < number)
    usleep(10);
}

static void store_and_hand_on(unsigned word) {
  CHECK(pthread_mutex_lock(&handed) == 0);
  STORE(((uint64_t *)nvm_pool_root(shared))[word], word + 1);
  CHECK(pthread_mutex_unlock(&handed) == 0);
}

static void make_shared(void) {
  shared = test_create(test_path("pool"), 1 << 20);
  nvm_tx_begin(shared);
  CHECK(nvm_pool_set_root(shared, nvm_calloc(shared, 0, 64, 8)) == 0 && nvm_tx_commit(shared) == 0);
  turn = 0;
}

/* The list of threads is in use, as where a pool is closed. */
static void *hold_threads(void *unused) {
  nvmi_threads_lock();
  turn = 1;
  await_turn(3);
  nvmi_threads_unlock();
  return unused;
}

/* The C library's own sign that somebody waits for a mutex. */
static bool waits_for_threads(void) {
  enum { SOMEBODY_WAITS = 2 };
  return *(volatile int *)&nvmi_locks[NVMI_LOCK_THREADS].mutex.__data.__lock == SOMEBODY_WAITS;
}

static void *end_in_a_transaction(void *is_atomic) {
  await_turn(1);
  if (is_atomic)
    __nvm_atomic_enter(__builtin_frame_address(0));
  else
    nvm_tx_begin(shared);
  store_and_hand_on(0);
  turn = 2;
  return NULL;
}

static _Atomic bool collects;
static void let_it_end(void) {
  if (collects)
    turn = 3;
}

/* A transaction that others may follow is undone before the thread waits for other threads that end: who looks
 * for garbage waits only for the rest. */
TEST(thread_that_ends_has_undone_what_it_handed_on) {
  for (unsigned is_atomic = 0; is_atomic < 2; is_atomic++) {
    pthread_t holder, thread;
    make_shared();
    collects = false;
    hook_barrier = let_it_end;
    CHECK(pthread_create(&holder, NULL, hold_threads, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, end_in_a_transaction, is_atomic ? &thread : NULL) == 0);
    while (turn < 2 || !waits_for_threads())
      usleep(10);
    CHECK(*(uint64_t *)nvm_pool_root(shared) == 0);
    collects = true;
    CHECK(nvm_pool_collect(shared, NULL) == 0 && turn == 3);
    CHECK(pthread_join(thread, NULL) == 0 && pthread_join(holder, NULL) == 0);
    hook_barrier = NULL;
    CHECK(nvm_pool_close(shared) == 0 && unlink(test_path("pool")) == 0);
  }
}

static void *hand_on_and_abort(void *unused) {
  nvm_tx_begin(shared);
  store_and_hand_on(0);
  turn = 1;
  await_turn(2);
  CHECK(nvm_tx_abort(shared) == 0);
  return unused;
}

static void *follow_and_end(void *unused) {
  await_turn(1);
  __nvm_commit_point(); /* no release ends it */
  store_and_hand_on(8);
  turn = 2;
  return unused;
}

static void end_behind_an_abort(void *unused) {
  pthread_t first, second;
  (void)unused;
  make_shared();
  CHECK(pthread_create(&first, NULL, hand_on_and_abort, NULL) == 0);
  CHECK(pthread_create(&second, NULL, follow_and_end, NULL) == 0);
  CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, NULL) == 0);
}

/* What a thread has stored outside transactions it cannot lose without a word. */
TEST(thread_that_ends_with_what_is_undone) {
  char said[1000];
  int status = test_child_says(end_behind_an_abort, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(said, "what a thread that ends has stored outside transactions could not"));
  NVM_POOL *pool = test_open(test_path("pool"));
  const uint64_t *words = nvm_pool_root(pool);
  CHECK(words[0] == 0 && words[8] == 0 && nvm_pool_close(pool) == 0);
}
