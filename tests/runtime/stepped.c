/* stepped.c: a signal handler stores at each instruction of a transaction, one after another.
 *
 * A child repeats its transaction and stops in front of each (int3). Its parent steps through some of them
 * and lists the instructions. Then it puts a breakpoint at one instruction for each transaction, and sends
 * the signal where the child reaches it. */
#define _GNU_SOURCE /* gettid */
#include "harness.h"
#include "store.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STORES = 120, WORDS = 16, LARGE = 300000, SET_BITS = 18, INT3 = 0xcc };

static NVM_POOL *pool;
static struct {
  uint64_t *block, turn, other, outside, beside;
  uint64_t words[WORDS]; /* the handler's */
} *root;
static uint64_t value; /* that the handler stores */
static volatile int came;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The log's first segment would not take so many entries: the same bytes have one. */
static void store(int number) {
  (void)number;
  for (int i = 0; i < STORES; i++) {
    note_store(root->words, sizeof root->words);
    for (unsigned k = 0; k < WORDS; k++)
      root->words[k] = value;
  }
  came++;
}

static bool all_are(uint64_t expected) {
  for (unsigned k = 0; k < WORDS; k++)
    if (root->words[k] != expected)
      return false;
  return true;
}

static void change(void) {
  uint64_t *block = nvm_alloc(pool, 0, 100 + value % 3 * 100);
  STORE(*block, value);
  nvm_free(root->block);
  STORE(root->block, block);
  STORE(root->turn, value);
}

/* The handler may come before the transaction, in it or behind it, while the words are read as well. */
static void abort_once(void) {
  uint64_t turn = root->turn, word = root->words[0];
  CHECK(nvm_tx_begin(pool) == 0);
  change();
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(root->turn == turn && (all_are(word) || came));
}

static void commit_once(void) {
  uint64_t word = root->words[0];
  CHECK(nvm_tx_begin(pool) == 0);
  change();
  CHECK(nvm_tx_commit(pool) == 0);
  bool has_come = came;
  CHECK(root->turn == value && (all_are(has_come ? value : word) || came != has_come));
}

/* The lock is released inside the transaction, and taken and released again outside of one. */
static void lock_once(void) {
  CHECK(nvm_tx_begin(pool) == 0 && pthread_mutex_lock(&lock) == 0);
  change();
  CHECK(pthread_mutex_unlock(&lock) == 0);
  STORE(root->other, value);
  CHECK(nvm_tx_commit(pool) == 0 && pthread_mutex_lock(&lock) == 0);
  STORE(root->outside, value);
  CHECK(pthread_mutex_unlock(&lock) == 0);
  CHECK(root->turn == value && root->other == value && root->outside == value);
}

/* A block of its own chunks: a run of them is found, or the pool grows, and the log too. */
static void grow_once(void) {
  uint64_t word = root->words[0];
  CHECK(nvm_tx_begin(pool) == 0);
  char *block = nvm_alloc(pool, 0, LARGE + value % 3 * LARGE);
  CHECK(block);
  store_bytes(block + LARGE / 2, root->words, sizeof root->words);
  nvm_free(block);
  change();
  CHECK(nvm_tx_commit(pool) == 0 && (all_are(word) || came));
}

static pthread_t beside;
static volatile pid_t beside_id; /* 0: it has not stored */
static int gate[2];

static void *wait_beside(void *unused) {
  char byte;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->beside, value);
  CHECK(nvm_tx_commit(pool) == 0);
  beside_id = gettid();
  CHECK(read(gate[0], &byte, 1) == 1);
  return unused;
}

static bool sleeps(pid_t thread) {
  char path[60], line[100] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  FILE *file = fopen(path, "r");
  CHECK(file && fgets(line, sizeof line, file) && fclose(file) == 0);
  return strstr(line, ") S ");
}

/* A second thread has a log, so the locks of the first order transactions. It sleeps, and so meets no
 * breakpoint. */
static void store_beside(void) {
  beside_id = 0;
  CHECK(pthread_create(&beside, NULL, wait_beside, NULL) == 0);
  while (!beside_id || !sleeps(beside_id))
    usleep(100);
}

static void end_beside(void) {
  CHECK(write(gate[1], "", 1) == 1 && pthread_join(beside, NULL) == 0);
}

__attribute__((noinline)) static void stop(void) { __asm__ volatile("int3" ::: "memory"); }

/* The pool is opened for each transaction: its log is short again. */
static void repeat(void (*once)(void)) {
  bool orders = once == lock_once;
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  commit_once();
  signal(SIGUSR1, store);
  CHECK(pipe(gate) == 0);
  if (ptrace(PTRACE_TRACEME, 0, 0, 0))
    _exit(TEST_SKIPPED);
  for (value++;; value++) {
    CHECK(nvm_pool_close(pool) == 0);
    pool = test_open(test_path("pool"));
    root = nvm_pool_root(pool);
    if (orders)
      store_beside();
    CHECK(all_are(root->words[0]) && *root->block == root->turn);
    came = 0;
    stop();
    once();
    stop();
    CHECK(came <= 1 && nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
    if (orders)
      end_beside();
  }
}

/* The address behind the instruction that stopped the child. */
static uintptr_t wait_for(pid_t child, struct user_regs_struct *registers) {
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIPPED)
    test_skip("no process may trace another here");
  while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1) { /* it was blocked where it was sent */
    CHECK(ptrace(PTRACE_CONT, child, 0, SIGUSR1) == 0);
    CHECK(waitpid(child, &status, 0) == child);
  }
  CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
  CHECK(ptrace(PTRACE_GETREGS, child, 0, registers) == 0);
  return registers->rip;
}

static uintptr_t go_on(pid_t child, int signal) {
  struct user_regs_struct registers;
  CHECK(ptrace(PTRACE_CONT, child, 0, signal) == 0);
  return wait_for(child, &registers);
}

/* Adds `at` to the set. */
static void add(uintptr_t *set, uintptr_t at) {
  size_t i = at * 0x9e3779b97f4a7c15 >> (64 - SET_BITS);
  for (int tries = 0; set[i] && set[i] != at; i = (i + 1) % (1 << SET_BITS))
    CHECK(++tries < 1 << SET_BITS);
  set[i] = at;
}

/* The instructions of some transactions. The child stands in front of one. */
static void list(pid_t child, uintptr_t stop, uintptr_t *set) {
  struct user_regs_struct registers;
  for (int turns = test_is_long() ? 3 : 1; turns; turns--) {
    for (uintptr_t at = 0; at != stop; add(set, at)) {
      CHECK(ptrace(PTRACE_SINGLESTEP, child, 0, 0) == 0);
      at = wait_for(child, &registers);
    }
    CHECK(go_on(child, 0) == stop);
  }
}

/* One transaction with a signal in front of `at`. False: it does not come there. */
static bool interrupt(pid_t child, uintptr_t stop, uintptr_t at) {
  struct user_regs_struct registers;
  errno = 0;
  long text = ptrace(PTRACE_PEEKTEXT, child, at, 0);
  CHECK(!errno && ptrace(PTRACE_POKETEXT, child, at, (text & ~0xffL) | INT3) == 0);
  CHECK(ptrace(PTRACE_CONT, child, 0, 0) == 0);
  bool reached = wait_for(child, &registers) == at + 1;
  CHECK(ptrace(PTRACE_POKETEXT, child, at, text) == 0);
  if (reached) {
    registers.rip = at;
    CHECK(ptrace(PTRACE_SETREGS, child, 0, &registers) == 0);
    CHECK(go_on(child, SIGUSR1) == stop);
  }
  CHECK(go_on(child, 0) == stop);
  return reached;
}

static void step_through(void (*once)(void)) {
#if __has_feature(thread_sanitizer)
  test_skip("ThreadSanitizer calls handlers later than their signal");
#endif
  if (test_is_delayed())
    test_skip("the thread that syncs is not traced, and would meet the breakpoints");
  struct user_regs_struct registers;
  uintptr_t *set = calloc(1 << SET_BITS, sizeof *set);
  pid_t child = fork();
  CHECK(set && child >= 0);
  if (!child)
    repeat(once);
  uintptr_t stop = wait_for(child, &registers);
  list(child, stop, set);
  size_t count = 0, tried = 0, reached = 0, step = test_is_long() ? 1 : 67,
         first = test_seed() % step;
  for (size_t i = 0; i < 1 << SET_BITS; i++)
    if (set[i] && set[i] != stop && count++ % step == first) {
      tried++;
      reached += interrupt(child, stop, set[i]);
    }
  CHECK(count > 500 && reached > tried / 3);
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  free(set);
}

TEST(stepped_abort) { step_through(abort_once); }

TEST(stepped_commit) { step_through(commit_once); }

TEST(stepped_lock) { step_through(lock_once); }

TEST(stepped_growth) { step_through(grow_once); }
