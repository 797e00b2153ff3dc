/* voids.c: a record that does not fit: what the empty one in its place may say, and what must be
 * gone before it is there. */
#include "schedules.h"

#include "core/pool.h"
#include "store.h"
#include "type_tables.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOMENTS = 8, COUNTED_ID = 7434 };

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

/* The log that cannot grow takes a checkpoint, and flushes what the other has published: the fence behind
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

/* A pool that counts references. */
struct counted {
  struct counted *to;
  uint64_t far[WORDS];
};
static const struct nvm_field counted_fields[] = {
    TEST_FIELD(counted, to, NVM_FIELD_POINTER, .target = COUNTED_ID)};
static const struct nvm_type counted_type = TEST_TYPE(COUNTED_ID, counted, counted_fields);
TEST_TYPES(described, &counted_type);

static void make_counted(const char *path) {
  pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct counted *all[3];
  for (unsigned i = 0; i < 3; i++)
    CHECK((all[i] = nvm_calloc(pool, COUNTED_ID, 1, sizeof *all[i])));
  STORE(all[0]->to, all[1]);
  STORE(all[1]->to, all[2]);
  CHECK(nvm_pool_set_root(pool, all[0]) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_count_references(pool) == 0 && nvm_pool_close(pool) == 0);
}

/* Its record does not fit: the references stay as they were. */
static void fail_to_link(void *path) {
  pool = test_open(path);
  fill(path);
  struct counted *first = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(first->far[i], i + 1);
  STORE(first->to, first->to->to);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOSPACE);
}

TEST_ONCE(killed_where_a_counted_record_did_not_fit) {
  char *path = (char *)(uintptr_t)test_path("pool"), kill[32];
  bool died = true;
  setenv("NVMOVE_METHOD", "shadow", 1);
  make_counted(path);
  for (unsigned at = 1; died; at++) {
    snprintf(kill, sizeof kill, "append:%u", at);
    died = test_was_killed(test_child(kill, fail_to_link, path));
    pool = test_open(path);
    const struct counted *first = nvm_pool_root(pool);
    CHECK(!first->far[0] && first->to->to && !first->to->to->to);
    CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"verify") == 0);
    CHECK(nvm_pool_close(pool) == 0 && unlink(path) == 0);
    make_counted(path);
  }
}
