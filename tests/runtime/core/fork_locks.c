/* fork_locks.c: fork while other threads are in every part of the runtime: what a child does with a
 * pool of its own waits for none of them.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include "nvmove/backup.h"
#include "symbols/statics.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  FORKS = 80,
  FEW_FORKS = 25,
  WORDS = 64,
  PARTS = 7,
  CHILD_SECONDS = 20,
  MOMENT = 30000 /* us */
};

/* A lock of the program's, which its own handlers bring over fork; a constructor registers them,
 * before those with no priority. */
static pthread_mutex_t programs = PTHREAD_MUTEX_INITIALIZER;
static void lock_programs(void) { pthread_mutex_lock(&programs); }
static void unlock_programs(void) { pthread_mutex_unlock(&programs); }
__attribute__((constructor(101))) static void watch_forks(void) {
  pthread_atfork(lock_programs, unlock_programs, unlock_programs);
}

static _Atomic bool stop;
static int target; /* of a pointer to static data */

/* A lock released inside a transaction that is undone: the others are stopped meanwhile. */
static void undo_released(NVM_POOL *pool, uint64_t *words, pthread_mutex_t *lock) {
  CHECK(nvm_tx_begin(pool) == 0);
  pthread_mutex_lock(lock);
  STORE(words[0], words[0] + 1);
  pthread_mutex_unlock(lock);
  sched_yield();
  CHECK(nvm_tx_abort(pool) == 0);
}

/* Its commit may be undone with the transaction that it follows. */
static void follow(NVM_POOL *pool, uint64_t *words, pthread_mutex_t *lock) {
  CHECK(nvm_tx_begin(pool) == 0);
  pthread_mutex_lock(lock);
  STORE(words[8], words[0]);
  pthread_mutex_unlock(lock);
  CHECK(nvm_tx_commit(pool) == 0 || nvm_errno() == NVM_EBROKEN || nvm_errno() == NVM_EDEADLOCK);
}

static uint64_t *make_words(NVM_POOL *pool) {
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  return words;
}

/* All that the parts below do, by one thread. */
static void use_own(const char *path, const char *copy) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  NVM_POOL *pool = test_create(path, 1 << 20);
  uint64_t *words = make_words(pool);
  undo_released(pool, words, &lock);
  follow(pool, words, &lock);
  CHECK(nvmi_is_static(&target) && nvm_pool_close(pool) == 0);
  pool = test_open(path);
  CHECK(nvm_free(nvm_alloc(pool, 0, 100)) == 0 && nvm_pool_backup(pool, copy, NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0 && unlink(path) == 0 && unlink(copy) == 0);
}

struct part {
  NVM_POOL *pool;
  uint64_t *words;
  pthread_mutex_t lock;
  const char *path, *copy; /* of a pool of its own */
};

static void *undo(void *argument) {
  struct part *part = argument;
  while (!stop)
    undo_released(part->pool, part->words, &part->lock);
  return NULL;
}

static void *follow_on(void *argument) {
  struct part *part = argument;
  while (!stop)
    follow(part->pool, part->words, &part->lock);
  return NULL;
}

static void *live_shortly(void *argument) {
  struct part *part = argument;
  STORE(part->words[16], part->words[16] + 1);
  return NULL; /* its end commits */
}

static void *come_and_go(void *argument) {
  pthread_t thread;
  while (!stop && pthread_create(&thread, NULL, live_shortly, argument) == 0)
    pthread_join(thread, NULL);
  return NULL;
}

static void *allocate(void *argument) {
  struct part *part = argument;
  for (size_t size = 16; !stop; size = size % 60000 + 997) {
    CHECK(nvm_tx_begin(part->pool) == 0);
    CHECK(nvm_free(nvm_alloc(part->pool, 0, size)) == 0);
    STORE(part->words[24], size);
    CHECK(nvm_tx_commit(part->pool) == 0);
  }
  return NULL;
}

/* With a log that comes and goes, for which the pool's lock is needed. */
static void *store_locked(void *argument) {
  struct part *part = argument;
  lock_programs();
  STORE(part->words[32], part->words[32] + 1);
  CHECK(nvm_tx_begin(part->pool) == 0 && nvm_free(nvm_alloc(part->pool, 0, 100000)) == 0);
  CHECK(nvm_tx_commit(part->pool) == 0);
  unlock_programs();
  return NULL;
}

static void *store_in_turn(void *argument) {
  pthread_t thread;
  while (!stop && pthread_create(&thread, NULL, store_locked, argument) == 0)
    pthread_join(thread, NULL);
  return NULL;
}

static void *open_and_close(void *argument) {
  struct part *part = argument;
  while (!stop)
    use_own(part->path, part->copy);
  return NULL;
}

static void *look_at_statics(void *unused) {
  (void)unused;
  char name[64];
  while (!stop)
    CHECK(nvmi_is_static(&target) && nvmi_static_name(&target, name, sizeof name));
  return NULL;
}

static void child(const char *path, const char *copy) {
  alarm(CHILD_SECONDS);
  use_own(path, copy);
  _exit(0);
}

static void fork_beside(unsigned parts) {
  static void *(*const bodies[PARTS])(void *) = {
      undo, come_and_go, allocate, open_and_close, look_at_statics, store_in_turn, follow_on};
  static struct part part = {.lock = PTHREAD_MUTEX_INITIALIZER};
  const char *path = test_path("other"), *copy = test_path("other.copy");
  part.path = test_path("mine");
  part.copy = test_path("mine.copy");
  part.pool = test_create(test_path("pool"), 32 << 20);
  part.words = make_words(part.pool);
  pthread_t threads[PARTS];
  for (unsigned i = 0; i < parts; i++)
    CHECK(pthread_create(&threads[i], NULL, bodies[i], &part) == 0);
  for (int i = 0; i < (test_is_long() ? FORKS : FEW_FORKS); i++) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
      child(path, copy);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (status)
      fprintf(stderr, "the child of fork %d ended with status %#x\n", i, (unsigned)status);
    CHECK(status == 0);
  }
  stop = true;
  for (unsigned i = 0; i < parts; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nvm_pool_close(part.pool) == 0);
  test_check_pool(test_path("pool"));
}

/* ThreadSanitizer does not see what orders an undoing and what others have noted before. */
TEST(fork_beside_most) { fork_beside(PARTS - 2); }
TEST(fork_amid_everything) { fork_beside(PARTS); }

static struct {
  NVM_POOL *pool;
  uint64_t *words;
  _Atomic unsigned step, barriers;
} second;

static void await_step(unsigned step) {
  while (second.step < step)
    sched_yield();
}

/* Behind the barrier that makes a pool with one log one with several. */
static void let_others_go_on(void) {
  if (++second.barriers != 2)
    return;
  second.step = 1;
  usleep(MOMENT);
  second.step = 2;
  usleep(MOMENT);
}

static void *make_second_log(void *unused) {
  CHECK(nvm_tx_begin(second.pool) == 0);
  STORE(second.words[8], 1);
  CHECK(nvm_tx_commit(second.pool) == 0);
  return unused;
}

static void *fork_meanwhile(void *unused) {
  int status;
  await_step(1);
  pid_t pid = fork();
  if (pid == 0)
    _exit(0);
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  return unused;
}

/* A lock that a commit takes under its number is behind that of who waits for such commits. */
TEST_ONCE(fork_while_a_second_log_is_made) {
  pthread_t threads[2];
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DURABLE", "never", 1);
  second.pool = test_create(test_path("pool"), 1 << 20);
  second.words = make_words(second.pool);
  CHECK(nvm_tx_begin(second.pool) == 0);
  STORE(second.words[0], 1);
  hook_barrier = let_others_go_on;
  CHECK(pthread_create(&threads[0], NULL, fork_meanwhile, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, make_second_log, NULL) == 0);
  await_step(2);
  CHECK(nvm_tx_commit(second.pool) == 0);
  for (unsigned i = 0; i < 2; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  hook_barrier = NULL;
  CHECK(second.barriers >= 2 && nvm_pool_close(second.pool) == 0);
}
