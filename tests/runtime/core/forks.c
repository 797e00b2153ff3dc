/* forks.c: fork while other threads are anywhere in the runtime: no lock is left held in the child.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <pthread.h>
#include <signal.h>
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

/* The child outlives its parent, which is killed before its pool is open. */
static int begins[2], ends[2];
static void fork_at(enum nvmi_step step) {
  char byte;
  if (step != NVMI_STEP_RECOVER)
    return;
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    CHECK(close(ends[1]) == 0 && write(begins[1], "", 1) == 1);
    _exit(read(ends[0], &byte, 1) != 0); /* with the test */
  }
  CHECK(read(begins[0], &byte, 1) == 1);
  kill(getpid(), SIGKILL);
}

static void die_while_it_is_opened(void) {
  const char *path = test_path("pool");
  setenv("NVMOVE_KILL_AT", "recover:1000", 1); /* steps are taken, none of them kills */
  hook_steps(fork_at);
  (void)nvm_pool_open(path);
  _exit(1);
}

TEST(fork_while_a_pool_is_opened) {
  int status;
  CHECK(nvm_pool_close(test_create(test_path("pool"), 1 << 20)) == 0);
  CHECK(pipe(begins) == 0 && pipe(ends) == 0);
  for (int round = 0; round < 2; round++) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
      die_while_it_is_opened();
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    CHECK(nvm_pool_close(test_open(test_path("pool"))) == 0);
  }
  for (int i = 0; i < 2; i++)
    CHECK(close(begins[i]) == 0 && close(ends[i]) == 0);
}

/* Its exit handlers find a pool that is not its own; no fork handler has told them. */
TEST(exit_of_a_child_without_handlers) {
  int status;
  NVM_POOL *open = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_alloc(open, 0, 64));
  fflush(NULL);
  pid_t pid = _Fork();
  CHECK(pid >= 0);
  if (pid == 0)
    exit(0);
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  CHECK(nvm_pool_close(open) == 0);
  test_check_pool(test_path("pool"));
}

static void *make_and_grow(void *unused) {
  (void)unused;
  while (!stop) {
    NVM_POOL *made = test_create(test_path("made"), 4 << 20);
    for (size_t i = 0; i < 4; i++)
      CHECK(nvm_alloc(made, 0, 2 << 20));
    CHECK(nvm_pool_close(made) == 0 && remove(test_path("made")) == 0);
  }
  return NULL;
}

/* Shared mappings, of a file of this test. */
static bool has_shared_mapping(void) {
  char line[1024];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps);
  while (fgets(line, sizeof line, maps))
    found = found || (strstr(line, "rw-s") && strstr(line, "nvmove-test"));
  fclose(maps);
  return found;
}

/* A new file is mapped for a moment to get huge pages, too. */
TEST(fork_inherits_no_file) {
  pthread_t thread;
  stop = false;
  CHECK(pthread_create(&thread, NULL, make_and_grow, NULL) == 0);
  for (unsigned i = 0; i < FORKS; i++) {
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
      _exit(has_shared_mapping());
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  stop = true;
  CHECK(pthread_join(thread, NULL) == 0);
}
