/* exits.c: what a process that exits makes of its pools while other threads begin to write, write,
 * or open them.
 */
#define _GNU_SOURCE
#include "core/pool.h"
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { WORDS = 512 };

struct root {
  uint64_t words[WORDS];
};

static NVM_POOL *pool;
static struct root *root;
static volatile bool stop;

static void exit_without_close(void *path) {
  pool = test_create(path, 2 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  STORE(root->words[0], 5);
  exit(0);
}

static void exit_in_transaction(void *path) {
  pool = test_open(path);
  root = nvm_pool_root(pool);
  nvm_tx_begin(pool);
  STORE(root->words[0], 6);
  exit(0);
}

/* Breeze: pools are closed when the program exits. What a transaction left open is undone. */
TEST(exit_closes_pools) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_in_transaction, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 0 && info.generation == 3);
  CHECK(root->words[0] == 5);
  CHECK(nvm_pool_close(pool) == 0);
}

static void *write_and_stay(void *words) {
  STORE(((uint64_t *)words)[3], 8);
  __nvm_commit_point();
  stop = true;
  for (;;)
    *(volatile uint64_t *)words; /* the mapping stays until the process is gone */
}

static void write_late(void) {
  nvm_tx_begin(pool);
  STORE(root->words[0], 98);
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  STORE(root->words[0], 99);
  _exit(0);
}

static void exit_and_write(void *path) {
  atexit(write_late); /* before the pool is opened: runs after the runtime's own */
  pool = test_open(path);
  root = nvm_pool_root(pool);
  nvm_tx_begin(pool);
  STORE(root->words[0], 97);
  nvm_tx_commit(pool);
  exit(0);
}

/* What a function registered with atexit writes after the pool was left is atomic like any other.
 */
TEST(exit_and_write_after_it) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_and_write, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  CHECK(root->words[0] == 98);
  CHECK(nvm_pool_close(pool) == 0);
}

static void store_late(void) { STORE(root->words[1], 98); }

static bool ends_with_stores;

/* Of the program: behind all that atexit knows of. */
__attribute__((destructor)) static void store_last(void) {
  if (ends_with_stores)
    STORE(root->words[2], 99);
}

static void exit_and_store(void *path) {
  atexit(store_late); /* before the pool is opened: runs after the runtime's own */
  pool = test_open(path);
  root = nvm_pool_root(pool);
  ends_with_stores = true;
  exit(0);
}

/* So is what it stores outside transactions, and what a destructor does. */
TEST(exit_and_store_after_it) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_and_store, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 0 &&
        pool->header.clean_shutdowns == 2);
  CHECK(root->words[0] == 5 && root->words[1] == 98 && root->words[2] == 99);
  CHECK(nvm_pool_close(pool) == 0);
}

static void commit_late(void) {
  STORE(root->words[1], 7);
  CHECK(nvm_tx_commit(pool) == 0);
}

static void exit_and_commit(void *path) {
  atexit(commit_late);
  exit_in_transaction(path);
}

/* A function that exit calls goes on with the transaction, and ends it. */
TEST(exit_and_commit_after_it) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_and_commit, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  CHECK(root->words[0] == 6 && root->words[1] == 7 && nvm_pool_close(pool) == 0);
}

static void exit_beside_a_thread(void *path) {
  pool = test_open(path);
  root = nvm_pool_root(pool);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, write_and_stay, root->words) == 0);
  while (!stop)
    sched_yield();
  STORE(root->words[4], 9);
  exit(0);
}

TEST(exit_beside_running_threads) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_beside_a_thread, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 1);
  CHECK(root->words[3] == 8 && root->words[4] == 9);
  CHECK(nvm_pool_close(pool) == 0);
}

static void store_behind(int number) {
  (void)number;
  STORE(root->words[6], 96);
}

static void raise_late(void) { CHECK(raise(SIGUSR1) == 0); }

static void exit_and_raise(void *path) {
  atexit(store_late);
  atexit(raise_late);
  signal(SIGUSR1, store_behind);
  exit_and_store(path);
}

/* A handler that stores behind the close does not keep exit from what the program stores then. */
TEST(exit_and_store_behind_a_handler) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_and_raise, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  CHECK(root->words[0] == 5 && root->words[1] == 98 && root->words[2] == 99);
  CHECK(nvm_pool_close(pool) == 0);
}

static void exit_here(int number) {
  (void)number;
  exit(0);
}

static void exit_in_a_handler(void *path) {
  atexit(store_late); /* before the pool is opened: runs after the runtime's own */
  signal(SIGUSR1, exit_here);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  ends_with_stores = true;
  CHECK(raise(SIGUSR1) == 0);
}

/* All that exit calls is in the handler then. */
TEST(exit_in_a_handler_and_store) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_in_a_handler, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  CHECK(root->words[1] == 98 && root->words[2] == 99);
  CHECK(nvm_pool_close(pool) == 0);
}

static void exit_and_store_beside_a_thread(void *path) {
  atexit(store_late);
  ends_with_stores = true;
  exit_beside_a_thread(path);
}

/* The other thread keeps the pool open. */
TEST(exit_and_store_beside_running_threads) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_and_store_beside_a_thread, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  CHECK(root->words[1] == 98 && root->words[2] == 99);
  CHECK(root->words[3] == 8 && root->words[4] == 9);
  CHECK(nvm_pool_close(pool) == 0);
}

static void *store_half(void *unused) {
  nvm_tx_begin(pool);
  STORE(root->words[5], 7);
  stop = true;
  for (;;)
    pause();
  return unused;
}

static void start_to_write(void) {
  pthread_t thread;
  hook_barrier = NULL;
  CHECK(pthread_create(&thread, NULL, store_half, NULL) == 0);
  for (unsigned i = 0; i < 100 && !stop; i++)
    usleep(1000);
}

static void die_when_written(void) {
  while (!stop)
    usleep(1000);
  _exit(0);
}

static void exit_while_one_begins(void *path) {
  atexit(die_when_written); /* runs after the runtime's own */
  pool = test_open(path);
  root = nvm_pool_root(pool);
  STORE(root->words[6], 9);
  __nvm_commit_point();
  hook_barrier = start_to_write;
  exit(0);
}

/* A thread takes its first log while the exit of another looks whether the pool is clean. */
TEST(exit_while_a_thread_begins) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_while_one_begins, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  CHECK(root->words[5] == 0 && root->words[6] == 9);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Of the two words the newer is undone by then. */
static void wait_in_recovery(enum nvmi_step step) {
  if (step != NVMI_STEP_RECOVER)
    return;
  stop = true;
  for (;;)
    pause();
}

static void *open_it(void *path) { return nvm_pool_open(path); }

static void exit_while_one_opens(void *path) {
  pthread_t thread;
  setenv("NVMOVE_KILL_AT", "recover:1000", 1); /* so that the steps of recovery are counted */
  hook_steps(wait_in_recovery);
  CHECK(pthread_create(&thread, NULL, open_it, path) == 0);
  while (!stop)
    usleep(1000);
  exit(0);
}

static void *open_and_close(void *path) {
  for (;;) {
    NVM_POOL *own = test_open(path);
    CHECK(nvm_tx_begin(own) == 0);
    STORE(((struct root *)nvm_pool_root(own))->words[0], 5);
    CHECK(nvm_tx_commit(own) == 0 && nvm_pool_close(own) == 0);
  }
  return NULL;
}

static void exit_while_one_closes(void *path) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, open_and_close, path) == 0);
  usleep((useconds_t)(1000 + getpid() % 1000));
  exit(0);
}

/* A pool that another thread closes is left to that thread. */
TEST(exit_while_a_thread_closes) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  for (unsigned round = 0; round < 40; round++) {
    int status = test_child(NULL, exit_while_one_closes, (void *)(uintptr_t)path);
    if (status)
      fprintf(stderr, "round %u: status %#x\n", round, (unsigned)status);
    CHECK(status == 0);
  }
  pool = test_open(path);
  CHECK(((struct root *)nvm_pool_root(pool))->words[0] == 5 && nvm_pool_close(pool) == 0);
}

static void die_in_transaction(void *path) {
  pool = test_open(path);
  root = nvm_pool_root(pool);
  nvm_tx_begin(pool);
  STORE(root->words[0], 6);
  STORE(root->words[WORDS - 1], 6);
  _exit(0);
}

/* A pool that another thread has not recovered yet is not called clean. */
TEST(exit_while_a_thread_opens) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, die_in_transaction, (void *)(uintptr_t)path) == 0);
  CHECK(test_child(NULL, exit_while_one_opens, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  CHECK(root->words[0] == 5);
  CHECK(nvm_pool_close(pool) == 0);
}

static void store_in_handler(int number) {
  (void)number;
  STORE(root->words[0], root->words[0] + 1);
}

static void exit_with_a_timer(void *path) {
  struct itimerval often = {{0, 20}, {0, 20}};
  pool = test_open(path);
  root = nvm_pool_root(pool);
  STORE(root->words[1], 1);
  signal(SIGALRM, store_in_handler);
  setitimer(ITIMER_REAL, &often, NULL);
  exit(0);
}

/* The handler interrupts the end of the process anywhere: it takes no lock that its thread has. */
TEST(exit_while_handlers_store) {
#if __has_feature(thread_sanitizer)
  test_skip("ThreadSanitizer calls handlers later than their signal");
#endif
  const char *path = test_path("pool");
  CHECK(test_child(NULL, exit_without_close, (void *)(uintptr_t)path) == 0);
  for (int i = test_is_long() ? 300 : 60; i; i--)
    CHECK(test_child(NULL, exit_with_a_timer, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  CHECK(((struct root *)nvm_pool_root(pool))->words[1] == 1 && nvm_pool_close(pool) == 0);
}
