/* voids.c: a record that does not fit: what the empty one in its place may say, and what must be
 * gone before it is there. */
#include "schedules.h"

#include "core/internal.h"
#include "store.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOMENTS = 8 };

static sem_t ready, stored;
static pthread_t other;
static bool ends;

/* Commits a higher number when it is told to, and fences no more: a thread's end has a fence. */
static void *store_when_told(void *unused) {
  take_log(NULL);
  for (sem_post(&stored), sem_wait(&ready); !ends; sem_post(&stored), sem_wait(&ready)) {
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(root->word, root->word + 1);
    CHECK(nvm_tx_commit(pool) == 0);
    ++*acknowledged;
  }
  return unused;
}

/* The log that cannot grow settles, and flushes what the other has published: the fence behind
 * covers nothing of the commit here. */
static void let_other_commit(const void *address) {
  if (pthread_equal(pthread_self(), other))
    return;
  (void)address;
  sem_post(&ready);
  sem_wait(&stored);
}

/* The pool and its file cannot grow. */
static void fill(const char *path) {
  struct stat file;
  CHECK(stat(path, &file) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  struct rlimit limit = {(rlim_t)file.st_size, (rlim_t)file.st_size};
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (size_t size = 60000; size >= 16; size /= 2)
    for (void *block = &pool; block;) {
      CHECK(nvm_tx_begin(pool) == 0);
      block = nvm_alloc(pool, 0, size);
      CHECK(nvm_tx_commit(pool) == 0);
    }
}

static void void_beside_a_commit(void *cut) {
  begin(cut);
  sem_init(&ready, 0, 0), sem_init(&stored, 0, 0);
  take_log(NULL);
  CHECK(pthread_create(&other, NULL, store_when_told, NULL) == 0);
  sem_wait(&stored);
  fill(((const struct power_cut *)cut)->path);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 1; i < WORDS; i++)
    STORE(root->far[i], i);
  power_flush = let_other_commit;
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOSPACE);
  power_flush = NULL;
  CHECK(*acknowledged);
  power_hold(false);
  for (unsigned i = 0; i < MOMENTS; i++) /* they bring nothing of the other thread's */
    pool->persist->fence();
  ends = true;
  sem_post(&ready);
  pthread_join(other, NULL);
  end();
}

static void has_all(const char *path) {
  NVM_POOL *image = test_open(path);
  const struct root *r = nvm_pool_root(image);
  CHECK(r->word == *acknowledged);
  CHECK(r->far[1] == 0);
  CHECK(nvm_pool_close(image) == 0);
}

TEST_ONCE(power_failure_behind_a_record_that_did_not_fit) {
  share_progress();
  power_fail_everywhere("shadow", prepare, void_beside_a_commit, has_all);
}
