/* forks.c: fork while other threads are anywhere in the runtime: no lock is left held in the child.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 60, WORDS = 64 };

static NVM_POOL *pool;
static uint64_t *words;
static _Atomic bool stop;

static void *live_shortly(void *word) {
  STORE(*(uint64_t *)word, *(uint64_t *)word + 1);
  return NULL; /* its end commits */
}

static void *come_and_go(void *unused) {
  (void)unused;
  pthread_t thread;
  while (!stop && pthread_create(&thread, NULL, live_shortly, &words[8]) == 0)
    pthread_join(thread, NULL);
  return NULL;
}

static void *allocate(void *unused) {
  (void)unused;
  for (size_t size = 16; !stop; size = size % 60000 + 997) {
    CHECK(nvm_tx_begin(pool) == 0);
    CHECK(nvm_free(nvm_alloc(pool, 0, size)) == 0);
    STORE(words[16], size);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  return NULL;
}

static void child(bool shadow) {
  alarm(20);
  if (shadow)
    CHECK(words[24] == 5);
  CHECK_FAILS(nvm_alloc(pool, 0, 100), NVM_ECHILD);
  CHECK(nvm_pool_close(pool) == 0);
  NVM_POOL *other = nvm_pool_create(test_path("other"), 1 << 20);
  CHECK(other && nvm_alloc(other, 0, 100) && nvm_pool_close(other) == 0);
  CHECK(unlink(test_path("other")) == 0);
  _exit(0);
}

TEST(fork_beside_busy_threads) {
  pool = test_create(test_path("pool"), 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  STORE(words[24], 5);
  CHECK(nvm_tx_commit(pool) == 0);
  bool shadow = test_is_shadow(pool);
  pthread_t threads[2];
  CHECK(pthread_create(&threads[0], NULL, come_and_go, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, allocate, NULL) == 0);
  for (int i = 0; i < FORKS; i++) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
      child(shadow);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  stop = true;
  for (int i = 0; i < 2; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}
