/* idle.c: a thread stores outside transactions under a lock, releases it and does nothing more: nobody
 * waits for it, and nothing that it stored is lost without a word. */
#include "core/thread.h"
#include "harness.h"
#include "hooks.h"
#include "store.h"
#include "type_tables.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

enum { WORDS = 64, FAR = 16, PLENTY = 1000, UNSAFE_ID = 7431 };

static struct {
  NVM_POOL *pool;
  uint64_t *words;
  pthread_mutex_t lock, inner;
  pthread_cond_t condition;
  _Atomic unsigned step;
} all;

static void wait_for(unsigned step) {
  while (all.step < step)
    sched_yield();
}

static void begin(void) { CHECK(nvm_tx_begin(all.pool) == 0); }
static void commit(void) { CHECK(nvm_tx_commit(all.pool) == 0); }

static void prepare(void) {
  all.pool = test_create(test_path("pool"), 2 << 20);
  begin();
  all.words = nvm_calloc(all.pool, 0, WORDS, sizeof *all.words);
  CHECK(all.words && nvm_pool_set_root(all.pool, all.words) == 0);
  commit();
  pthread_mutex_init(&all.lock, NULL);
  pthread_mutex_init(&all.inner, NULL);
  pthread_cond_init(&all.condition, NULL);
  all.step = 0;
}

static void finish(void) {
  CHECK(nvm_pool_close(all.pool) == 0);
  test_check_pool(test_path("pool"));
  unlink(test_path("pool"));
}

static void *store_and_idle(void *argument) {
  pthread_mutex_lock(&all.lock);
  STORE(all.words[0], all.words[0] + 1);
  all.step = 1;
  if (argument) /* the release by waiting for a condition */
    while (all.step < 3)
      pthread_cond_wait(&all.condition, &all.lock);
  pthread_mutex_unlock(&all.lock);
  wait_for(3);
  return NULL;
}

static _Thread_local unsigned yields;
static void count_yields(void) { yields++; }

static void commit_beside(void *argument) {
  prepare();
  pthread_t idle;
  hook_yield = count_yields;
  CHECK(pthread_create(&idle, NULL, store_and_idle, argument) == 0);
  wait_for(1);
  for (unsigned i = 1; i <= PLENTY; i++) {
    yields = 0;
    pthread_mutex_lock(&all.lock);
    begin();
    STORE(all.words[FAR], all.words[0] * i);
    CHECK(nvm_tx_commit(all.pool) == 0);
    pthread_mutex_unlock(&all.lock);
    CHECK(yields == 0);
  }
  raise(SIGKILL);
}

/* A thread that stored under a lock, outside transactions, and idles: nobody waits for it, and what
 * others commit is durable. */
TEST(review_a7_idle_thread) {
  for (unsigned by_condition = 0; by_condition < 2; by_condition++) {
    CHECK(test_was_killed(test_child(NULL, commit_beside, by_condition ? &all : NULL)));
    all.pool = test_open(test_path("pool"));
    all.words = nvm_pool_root(all.pool);
    CHECK(all.words[0] == 1 && all.words[FAR] == PLENTY);
    finish();
  }
}

/* Between commit points a release does not end what is open. */
TEST(review_a7_commit_points_keep_it_whole) {
  prepare();
  __nvm_commit_point();
  pthread_mutex_lock(&all.lock);
  STORE(all.words[0], 1);
  pthread_mutex_unlock(&all.lock);
  CHECK(nvmi_self->touched);
  __nvm_commit_point();
  CHECK(!nvmi_self->touched);
  finish();
}

struct unsafe {
  unsigned *outside;
};

static const struct nvm_field unsafe_fields[] = {TEST_FIELD(unsafe, outside, NVM_FIELD_POINTER)};
static const struct nvm_type unsafe_type = TEST_TYPE(UNSAFE_ID, unsafe, unsafe_fields);
TEST_TYPES(described, &unsafe_type);

static struct unsafe *record;
static unsigned lost_by_a_restart;

/* The pointer is corrected before the thread's last lock is released, or not. */
static void *point_outside_and_idle(void *corrects) {
  pthread_mutex_lock(&all.lock);
  STORE(record->outside, &lost_by_a_restart);
  pthread_mutex_lock(&all.inner);
  pthread_mutex_unlock(&all.inner);
  CHECK(record->outside == &lost_by_a_restart);
  if (corrects)
    STORE(record->outside, NULL);
  STORE(all.words[0], 1);
  pthread_mutex_unlock(&all.lock);
  all.step = 1;
  wait_for(2);
  if (corrects) {
    begin();
    commit();
  } else {
    CHECK_FAILS(nvm_tx_begin(all.pool) == 0, NVM_EBROKEN);
  }
  return NULL;
}

TEST(review_a7_idle_thread_with_an_unsafe_pointer) {
  for (unsigned corrects = 0; corrects < 2; corrects++) {
    prepare();
    begin();
    record = nvm_calloc(all.pool, UNSAFE_ID, 1, sizeof *record);
    STORE(all.words[1], (uintptr_t)record);
    commit();
    pthread_t idle;
    CHECK(pthread_create(&idle, NULL, point_outside_and_idle, corrects ? &all : NULL) == 0);
    wait_for(1);
    begin();
    pthread_mutex_lock(&all.lock);
    CHECK(all.words[0] == corrects && !record->outside);
    STORE(all.words[FAR], 1);
    commit();
    pthread_mutex_unlock(&all.lock);
    all.step = 2;
    CHECK(pthread_join(idle, NULL) == 0);
    CHECK(all.words[0] == corrects && all.words[FAR] == 1);
    finish();
  }
}

/* What is undone at a release is gone from memory, too, and no later commit brings it back. */
TEST(undone_at_a_release_and_tried_again) {
  prepare();
  begin();
  record = nvm_calloc(all.pool, UNSAFE_ID, 1, sizeof *record);
  STORE(all.words[1], (uintptr_t)record);
  commit();
  pthread_mutex_lock(&all.lock);
  STORE(all.words[0], all.words[0] + 10);
  STORE(record->outside, &lost_by_a_restart);
  pthread_mutex_unlock(&all.lock);
  CHECK(all.words[0] == 0 && !record->outside);
  CHECK_FAILS(nvm_tx_begin(all.pool) == 0, NVM_EBROKEN);
  begin();
  STORE(all.words[0], all.words[0] + 10);
  commit();
  CHECK(all.words[0] == 10);
  CHECK(nvm_pool_close(all.pool) == 0);
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
  CHECK(all.words[0] == 10 && !((struct unsafe *)(uintptr_t)all.words[1])->outside);
  finish();
}

/* The inner release of a lock that the thread holds twice is not its last. */
TEST(corrected_before_a_recursive_lock_is_free) {
  prepare();
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t twice;
  pthread_mutex_init(&twice, &recursive);
  begin();
  record = nvm_calloc(all.pool, UNSAFE_ID, 1, sizeof *record);
  STORE(all.words[1], (uintptr_t)record);
  commit();
  pthread_mutex_lock(&twice);
  pthread_mutex_lock(&twice);
  STORE(all.words[0], 1);
  STORE(record->outside, &lost_by_a_restart);
  pthread_mutex_unlock(&twice);
  STORE(record->outside, NULL);
  pthread_mutex_unlock(&twice);
  CHECK(all.words[0] == 1);
  begin();
  commit();
  finish();
}

static sem_t posted;
static bool queued;
static pthread_t queuer;
/* As a handler's post that came in the look at pointers just before. */
static void queue_a_post(void) {
  if (queued || !nvmi_self || !pthread_equal(pthread_self(), queuer))
    return;
  queued = true;
  nvmi_self->posts[0] = (struct nvmi_post){&posted, 1};
  nvmi_self->posts_count = 1;
}

static void *release_and_wait(void *unused) {
  begin();
  pthread_mutex_lock(&all.lock);
  STORE(all.words[0], 1);
  pthread_mutex_unlock(&all.lock);
  all.step = 1;
  wait_for(2);
  commit();
  return unused;
}

TEST(post_behind_a_release_that_leaves_open) {
  pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  int count = 0;
  prepare();
  begin();
  record = nvm_calloc(all.pool, UNSAFE_ID, 1, sizeof *record);
  STORE(all.words[1], (uintptr_t)record);
  commit();
  CHECK(sem_init(&posted, 0, 0) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, release_and_wait, NULL) == 0);
  wait_for(1);
  queuer = pthread_self();
  pthread_mutex_lock(&all.lock);
  pthread_mutex_unlock(&all.lock);
  CHECK(nvmi_self->node);
  pthread_mutex_lock(&other);
  pthread_mutex_lock(&all.inner);
  STORE(record->outside, &lost_by_a_restart);
  hook_barrier = queue_a_post;
  pthread_mutex_unlock(&all.inner);
  hook_barrier = NULL;
  CHECK(nvmi_self->touched);
  CHECK(queued);
  CHECK(sem_getvalue(&posted, &count) == 0 && count == 1);
  STORE(record->outside, NULL);
  all.step = 2;
  CHECK(pthread_join(thread, NULL) == 0);
  pthread_mutex_unlock(&other);
  finish();
}
