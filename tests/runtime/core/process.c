/* process.c: signal handlers that store, and the comparison of view and file. */
#define _GNU_SOURCE
#include "core/thread.h"
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 512, TRANSACTIONS = 400 };

struct root {
  uint64_t done;
  uint64_t words[WORDS];
  volatile uint64_t first; /* by the handler: always equal to `second` */
  uint64_t padding[32];
  volatile uint64_t second;
};

static NVM_POOL *pool;
static struct root *root;

static void make_root(const char *path) {
  pool = test_create(path, 2 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
}

/* Shared with the process that is killed. */
static struct seen {
  uint64_t appends, kill_at; /* of the log, since the storm began */
  volatile uint64_t acknowledged;
  volatile uint64_t begun, first;    /* the last transaction, what it found in `first` */
  volatile uint64_t handled, inside; /* signals, and those that interrupted the runtime at work */
} *seen;

static void handler(int number) {
  (void)number;
  seen->handled++;
  seen->inside += nvmi_self && nvmi_self->busy;
  STORE(root->first, root->first + 1);
  STORE(root->second, root->second + 1);
}

static volatile bool stop;
/* Signals the storm may still send into this transaction: a handler's transactions wait for the one
 * they interrupt, and have room for so many only. */
static _Atomic int due, due_inside;

/* The storm seldom meets an append; this does, at every seventh, and ends the process at one. */
static void interrupt(enum nvmi_step step) {
  if (step != NVMI_STEP_APPEND)
    return;
  if (++seen->appends == seen->kill_at)
    raise(SIGKILL);
  if (seen->appends % 7 == 0 && due_inside > 0) {
    --due_inside;
    raise(SIGUSR1);
  }
}

static void *storm(void *thread) {
  while (!stop) {
    if (due > 0) {
      --due;
      pthread_kill(*(pthread_t *)thread, SIGUSR1);
    }
    for (volatile int i = 0; i < 300; i++)
      ;
  }
  return NULL;
}

static void run_signals(void *path) {
  make_root(path);
  signal(SIGUSR1, handler);
  hook_steps(interrupt);
  pthread_t self = pthread_self(), thread;
  CHECK(pthread_create(&thread, NULL, storm, &self) == 0);
  for (uint64_t t = 1; t <= TRANSACTIONS; t++) {
    due = 24;
    due_inside = 8;
    /* Once a handler has stored, signals wait for the end of a commit: mostly forgotten here. */
    nvmi_self->handlers_store = nvmi_self->handlers_store && t % 8 == 0;
    CHECK(nvm_tx_begin(pool) == 0);
    seen->first = root->first;
    seen->begun = t;
    for (unsigned i = 0; i < WORDS; i += 1 + t % 7)
      STORE(root->words[i], t);
    CHECK(nvm_free(nvm_alloc(pool, 0, 100 + t)) == 0);
    STORE(root->done, t);
    CHECK(nvm_tx_commit(pool) == 0);
    seen->acknowledged = t;
  }
  stop = true;
  pthread_join(thread, NULL);
  CHECK(root->first == root->second);
  CHECK(nvm_pool_close(pool) == 0);
}

static void check_after_kill(const char *path) {
  NVM_POOL *opened = test_open(path);
  const struct root *r = nvm_pool_root(opened);
  CHECK(r->first == r->second && r->first <= seen->handled);
  CHECK(r->done == seen->acknowledged || r->done == seen->acknowledged + 1);
  if (r->done < seen->begun) /* undone, with what handlers stored meanwhile */
    CHECK(r->first <= seen->first);
  else
    CHECK(r->first >= seen->first);
  uint64_t stride = 1 + r->done % 7;
  for (unsigned i = 0; r->done && i < WORDS; i += stride)
    CHECK(r->words[i] == r->done);
  CHECK(nvm_pool_close(opened) == 0);
  test_check_pool(path);
}

/* A handler's two stores are in one transaction: after any crash both are there or neither. Ends
 * with the run that no kill reaches any more; a shadow's has fewer appends. */
TEST(signal_handler_interrupts_an_append) {
  const char *path = test_path("pool");
  unsigned kills = 0, behind_commits = 0,
           percent = strcmp(getenv("NVMOVE_METHOD"), "undo") ? 120 : 150;
  uint64_t handled = 0, inside = 0;
  bool killed = true;
  seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (unsigned n = 50; killed && n < 20000; n = n * percent / 100) {
    *seen = (struct seen){.kill_at = n};
    int status = test_child(NULL, run_signals, (void *)(uintptr_t)path);
    killed = test_was_killed(status);
    CHECK(killed || (status == 0 && seen->acknowledged == TRANSACTIONS));
    kills += killed;
    behind_commits += killed && seen->acknowledged;
    handled += seen->handled;
    inside += seen->inside;
    check_after_kill(path);
    unlink(path);
  }
  CHECK(kills >= 12 && behind_commits >= 8);
  CHECK(handled >= inside && inside >= 400); /* shadow: every seventh of 3,000 appends */
}

static void store_without_note(void *noted) {
  make_root(test_path("pool"));
  nvm_tx_begin(pool);
  STORE(root->words[1], 1);
  if (noted)
    note_store(&root->words[7], 8);
  root->words[7] = 1;
  CHECK(nvm_tx_commit(pool) == 0);
}

TEST_ONCE(compare_finds_a_store_that_nobody_noted) {
  setenv("NVMOVE_DEBUG", "compare", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  CHECK(test_child(NULL, store_without_note, (void *)1) == 0);
  unlink(test_path("pool"));
  int status = test_child(NULL, store_without_note, NULL);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* One transaction that consists of such a store, which commits as the pool closes or before. */
static void store_nothing_else(void *closes) {
  make_root(test_path("pool"));
  if (!closes)
    CHECK(nvm_tx_begin(pool) == 0);
  *(volatile uint64_t *)&root->words[0] = 17;
  if (!closes)
    nvm_tx_commit(pool);
  else
    nvm_pool_close(pool);
}

TEST_ONCE(review_a8_nothing_but_a_store_that_nobody_noted) {
  setenv("NVMOVE_DEBUG", "compare", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  for (unsigned closes = 0; closes < 2; closes++) {
    int status = test_child(NULL, store_nothing_else, closes ? &closes : NULL);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    unlink(test_path("pool"));
  }
}

static void store_unsafe(void *value) {
  make_root(test_path("pool"));
  static const struct nvm_site site = {"a.c", 12, 3, "struct root.words"};
  __nvm_check_pointer(&root->words[0], value ? (void *)root : NULL, &site);
  int local;
  if (!value)
    __nvm_check_pointer(&root->words[0], &local, &site);
  __nvm_check_pointer(&local, &local, &site);
}

TEST_ONCE(unsafe_pointer_at_the_store) {
  CHECK(test_child(NULL, store_unsafe, (void *)1) == 0);
  unlink(test_path("pool"));
  int status = test_child(NULL, store_unsafe, NULL);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
