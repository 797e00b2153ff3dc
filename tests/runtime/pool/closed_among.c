/* closed_among.c: a pool is closed while threads that have stored to it are there, and go on in another pool. */
#include "core/thread.h"
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  WORDS = 1024,
  THREADS = 2,
  ROUNDS = 40,
  STORES = 4000,
  LINE_WORDS = 8,
  OWN_LINES = 8,
  OWN = OWN_LINES * LINE_WORDS,
  MOMENT = 20000 /* us */
};

struct data {
  uint64_t words[WORDS];
};

static struct {
  NVM_POOL *closed, *used;
  struct data *in_closed, *in_used;
  _Atomic unsigned stored; /* threads that have stored */
  _Atomic bool amid, past;
  pthread_t other;
} all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static struct data *make(NVM_POOL **pool, const char *name) {
  *pool = test_create(test_path(name), 1 << 20);
  CHECK(nvm_tx_begin(*pool) == 0);
  struct data *data = nvm_calloc(*pool, 0, 1, sizeof *data);
  CHECK(data && nvm_pool_set_root(*pool, data) == 0 && nvm_tx_commit(*pool) == 0);
  return data;
}

static void make_both(void) {
  all.in_closed = make(&all.closed, "closed");
  all.in_used = make(&all.used, "used");
  all.stored = 0;
  all.amid = all.past = false;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
}

static void open_both(void) {
  all.closed = test_open(test_path("closed"));
  all.used = test_open(test_path("used"));
  all.in_closed = nvm_pool_root(all.closed);
  all.in_used = nvm_pool_root(all.used);
}

static void close_and_remove_both(void) {
  CHECK(nvm_pool_close(all.closed) == 0 && nvm_pool_close(all.used) == 0);
  CHECK(unlink(test_path("closed")) == 0 && unlink(test_path("used")) == 0);
}

static void await(const _Atomic bool *flag) {
  while (!*flag)
    usleep(10);
}

static void await_stored(unsigned count) {
  while (all.stored < count)
    sched_yield();
}

static void meet(void) { pthread_barrier_wait(&barrier); }

static pthread_t start(void *(*run)(void *), void *argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, argument) == 0);
  return thread;
}

static void join(pthread_t thread) { CHECK(pthread_join(thread, NULL) == 0); }

static void commit_in_used(unsigned word) {
  CHECK(nvm_tx_begin(all.used) == 0);
  STORE(all.in_used->words[word], all.in_used->words[word] + 1);
  CHECK(nvm_tx_commit(all.used) == 0);
}

/* Each line has a count that nobody else writes, and which is one more each time. */
static void *store_to_both(void *number) {
  uint64_t *first = all.in_closed->words + (uintptr_t)number * OWN;
  uint64_t *own = all.in_used->words + (uintptr_t)number * OWN;
  uint64_t count = own[0];
  CHECK(nvm_tx_begin(all.closed) == 0);
  for (unsigned i = 0; i < OWN_LINES; i++) {
    STORE(first[i * LINE_WORDS], first[i * LINE_WORDS] + 1);
    STORE(own[i * LINE_WORDS], count + 1);
  }
  CHECK(nvm_tx_commit(all.closed) == 0);
  all.stored++;
  for (unsigned i = 0; i < STORES || !all.past; i++)
    STORE(own[i % OWN_LINES * LINE_WORDS], own[i % OWN_LINES * LINE_WORDS] + 1);
  for (unsigned i = 0; i < OWN_LINES; i++)
    STORE(own[i * LINE_WORDS + 1], own[i * LINE_WORDS]);
  return NULL;
}

static void one_round(uint64_t round) {
  pthread_t threads[THREADS];
  uint64_t counts[THREADS * OWN_LINES];
  all.stored = 0;
  all.past = false;
  for (uintptr_t i = 0; i < THREADS; i++)
    threads[i] = start(store_to_both, (void *)i);
  await_stored(THREADS);
  CHECK(nvm_pool_close(all.closed) == 0);
  all.past = true;
  for (unsigned i = 0; i < THREADS; i++)
    join(threads[i]);
  for (unsigned i = 0; i < THREADS * OWN_LINES; i++)
    counts[i] = all.in_used->words[i * LINE_WORDS];
  CHECK(nvm_pool_close(all.used) == 0);
  open_both();
  for (unsigned i = 0; i < THREADS * OWN_LINES; i++) {
    CHECK(all.in_closed->words[i * LINE_WORDS] == round);
    CHECK(all.in_used->words[i * LINE_WORDS] == counts[i]);
    CHECK(all.in_used->words[i * LINE_WORDS + 1] == counts[i]);
  }
}

TEST(closed_while_its_threads_use_another_pool) {
  make_both();
  for (uint64_t round = 1; round <= ROUNDS; round++)
    one_round(round);
  close_and_remove_both();
}

/* How a thread leaves open what it has stored, and ends that. */
struct kind {
  void (*begin)(void), (*end)(void);
  const char *message;
};

static struct nvmi_thread *at_rest; /* a thread that has committed, and idles */
static int storing;                 /* the id of the one that has not */

static void store_a_word(void) { STORE(all.in_closed->words[0], 7); }
static void store_in_a_transaction(void) {
  CHECK(nvm_tx_begin(all.closed) == 0);
  store_a_word();
}
static void commit(void) { CHECK(nvm_tx_commit(all.closed) == 0); }
static void begin_in_used(void) { commit_in_used(8); }
/* Others may depend on both parts; as it passes commit points, no release ends them. */
static void store_to_both_and_release(void) {
  __nvm_commit_point();
  CHECK(pthread_mutex_lock(&lock) == 0);
  store_a_word();
  STORE(all.in_used->words[9], 8);
  CHECK(pthread_mutex_unlock(&lock) == 0);
}

static const struct kind kinds[] = {
    {store_a_word, begin_in_used, "has stored outside transactions and not committed"},
    {store_a_word, __nvm_commit_point, "has stored outside transactions and not committed"},
    {store_in_a_transaction, commit, "has a transaction open"},
    {store_to_both_and_release, __nvm_commit_point,
     "has stored outside transactions and not committed"}};

static void *store_end_and_idle(void *kind) {
  storing = nvmi_thread_self()->id;
  ((const struct kind *)kind)->begin();
  meet();
  meet();
  ((const struct kind *)kind)->end();
  meet();
  meet();
  return NULL;
}

static void *commit_and_idle(void *unused) {
  commit_in_used(16);
  CHECK(nvm_tx_begin(all.closed) == 0);
  STORE(all.in_closed->words[16], 1);
  commit();
  at_rest = nvmi_self;
  all.stored = 1;
  await(&all.past);
  return unused;
}

/* Nobody's log is taken by a close that fails: a handler of the thread at rest may store as before. */
static void be_refused(const struct kind *kind) {
  char message[128];
  make_both();
  pthread_t idle = start(commit_and_idle, NULL);
  await_stored(1);
  pthread_t thread = start(store_end_and_idle, (void *)kind);
  meet();
  CHECK_FAILS(nvm_pool_close(all.closed) == 0, NVM_EOPENTX);
  snprintf(message, sizeof message, "thread %d %s", storing, kind->message);
  CHECK(strstr(nvm_strerror(), message));
  CHECK(at_rest->logs[all.closed->index] && all.in_closed->words[0] == 7);
  meet();
  meet();
  unsigned index = all.closed->index;
  CHECK(nvm_pool_close(all.closed) == 0 && !at_rest->logs[index]);
  all.past = true;
  meet();
  join(thread);
  join(idle);
  CHECK(nvm_pool_close(all.used) == 0);
  open_both();
  CHECK(all.in_closed->words[0] == 7 && all.in_closed->words[16] == 1);
  close_and_remove_both();
}

TEST(not_closed_over_what_another_thread_has_open) {
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
    be_refused(&kinds[i]);
}

/* Its program knows that the value is there; the release, which commits, is not over. */
static void *store_and_tell(void *unused) {
  CHECK(pthread_mutex_lock(&lock) == 0);
  store_a_word();
  all.stored = 1;
  usleep(MOMENT);
  CHECK(pthread_mutex_unlock(&lock) == 0);
  return unused;
}

static void *store_and_exit(void *unused) {
  store_a_word();
  all.stored = 1;
  usleep(MOMENT);
  exit((int)(uintptr_t)unused);
}

static void close_while_one_exits(void *unused) {
  (void)unused;
  make_both();
  pthread_t thread = start(store_and_exit, NULL);
  await_stored(1);
  CHECK(nvm_pool_close(all.closed) == 0);
  join(thread);
}

static void one_word_is_there(void) {
  open_both();
  CHECK(all.in_closed->words[0] == 7);
  close_and_remove_both();
}

TEST(closed_when_its_owner_has_committed) {
  make_both();
  pthread_t thread = start(store_and_tell, NULL);
  await_stored(1);
  CHECK(nvm_pool_close(all.closed) == 0);
  join(thread);
  CHECK(nvm_pool_close(all.used) == 0);
  one_word_is_there();
  CHECK(test_child(NULL, close_while_one_exits, NULL) == 0);
  one_word_is_there();
}

/* A thread hands on what it has not committed, and ends a moment after. */
static void *hand_on_and_end(void *unused) {
  __nvm_commit_point();
  CHECK(pthread_mutex_lock(&lock) == 0);
  STORE(all.in_used->words[1], 1);
  CHECK(pthread_mutex_unlock(&lock) == 0);
  all.amid = true;
  await_stored(1);
  usleep(MOMENT);
  return unused;
}

/* What it has stored to the pool waits with the rest for that end. */
static void *depend_on_it(void *also) {
  await(&all.amid);
  if (also)
    STORE(all.in_closed->words[0], 7);
  CHECK(pthread_mutex_lock(&lock) == 0);
  STORE(all.in_used->words[2], all.in_used->words[1]);
  all.stored = 1;
  CHECK(pthread_mutex_unlock(&lock) == 0);
  return NULL;
}

TEST(closed_while_what_an_owner_waits_for_ends) {
  make_both();
  pthread_t first = start(hand_on_and_end, NULL), second = start(depend_on_it, &all);
  await_stored(1);
  CHECK(nvm_pool_close(all.closed) == 0);
  join(first);
  join(second);
  CHECK(nvm_pool_close(all.used) == 0);
  one_word_is_there();
}

static void *hand_on_in_a_transaction(void *unused) {
  CHECK(nvm_tx_begin(all.used) == 0);
  CHECK(pthread_mutex_lock(&lock) == 0);
  STORE(all.in_used->words[1], 1);
  CHECK(pthread_mutex_unlock(&lock) == 0);
  all.amid = true;
  await(&all.past);
  CHECK(nvm_tx_commit(all.used) == 0);
  return unused;
}

static void *commit_and_depend(void *unused) {
  CHECK(nvm_tx_begin(all.closed) == 0);
  store_a_word();
  commit();
  return depend_on_it(unused);
}

/* Nothing of the pool waits: neither a close nor a look for garbage has to. */
TEST(closed_while_its_thread_waits_in_another_pool) {
  make_both();
  pthread_t first = start(hand_on_in_a_transaction, NULL), second = start(commit_and_depend, NULL);
  await_stored(1);
  usleep(MOMENT);
  CHECK(nvm_pool_collect(all.closed, NULL) == 0);
  CHECK(nvm_pool_close(all.closed) == 0);
  all.past = true;
  join(first);
  join(second);
  CHECK(nvm_pool_close(all.used) == 0);
  one_word_is_there();
}

/* What it has stored ends with it, behind the open transaction that it depends on. */
static void *depend_and_end(void *unused) {
  __nvm_commit_point(); /* no release ends it */
  return depend_on_it(unused);
}

/* One that ends is waited for longer than the second that a close has for stores: looks of two
 * milliseconds, each of which makes a barrier. */
static _Atomic bool late;
static void let_commit_late(void) {
  static unsigned looks;
  late = ++looks >= 560;
}

static pthread_t ends_late;

/* Behind that end the close has to wait for what this one has stored: that wait begins anew. The other
 * does not end before this has stored. */
static void *store_behind_the_end(void *unused) {
  __nvm_commit_point();
  while (!late)
    sched_yield();
  STORE(all.in_closed->words[16], 1);
  all.past = true;
  join(ends_late);
  usleep(MOMENT);
  __nvm_commit_point();
  return unused;
}

TEST(closed_behind_the_end_of_a_thread) {
  make_both();
  pthread_t first = start(hand_on_in_a_transaction, NULL);
  ends_late = start(depend_and_end, &all);
  await_stored(1);
  pthread_t third = start(store_behind_the_end, NULL);
  usleep(MOMENT);
  hook_barrier = let_commit_late;
  CHECK(nvm_pool_close(all.closed) == 0 && all.past);
  hook_barrier = NULL;
  join(first);
  join(third);
  CHECK(nvm_pool_close(all.used) == 0);
  one_word_is_there();
}

static void *close_one(void *pool) {
  CHECK(nvm_pool_close(pool) == 0);
  return NULL;
}

/* Amid work in another pool, as a signal handler above it does. */
static void wait_for_the_other(enum nvmi_step step) {
  (void)step;
  if (!all.stored || all.amid || pthread_equal(pthread_self(), all.other))
    return;
  all.amid = true;
  await(&all.past);
}

static void *work_in_used(void *unused) {
  store_a_word();
  commit_in_used(0);
  all.stored = 1;
  commit_in_used(0);
  return unused;
}

TEST(closed_while_work_elsewhere_waits_for_another_thread) {
  make_both();
  all.other = pthread_self();
  hook_steps(wait_for_the_other);
  pthread_t thread = start(work_in_used, NULL);
  await(&all.amid);
  pthread_t closer = start(close_one, all.closed);
  usleep(MOMENT);
  commit_in_used(8);
  all.past = true;
  join(closer);
  join(thread);
  hook_steps(NULL);
  CHECK(nvm_pool_close(all.used) == 0);
  one_word_is_there();
}
