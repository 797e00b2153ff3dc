/* stepped.c: a signal handler stores at each instruction of a transaction, one after another.
 *
 * A child repeats its transaction and stops in front of each (int3). Its parent steps through some of them
 * and lists the instructions. Then it puts a breakpoint at one instruction for each transaction, and sends
 * the signal where the child reaches it. */
#include "harness.h"
#include "store.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STORES = 120, WORDS = 16, INSTRUCTIONS_MAX = 1 << 20, INT3 = 0xcc };

static NVM_POOL *pool;
static struct {
  uint64_t *block, turn;
  uint64_t words[WORDS]; /* the handler's */
} *root;
static uint64_t value; /* that the handler stores */
static volatile int came;

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

__attribute__((noinline)) static void stop(void) { __asm__ volatile("int3" ::: "memory"); }

/* The pool is opened for each transaction: its log is short again. */
static void repeat(void (*once)(void)) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  commit_once();
  signal(SIGUSR1, store);
  if (ptrace(PTRACE_TRACEME, 0, 0, 0))
    _exit(TEST_SKIPPED);
  for (value++;; value++) {
    CHECK(nvm_pool_close(pool) == 0);
    pool = test_open(test_path("pool"));
    root = nvm_pool_root(pool);
    CHECK(all_are(root->words[0]) && *root->block == root->turn);
    came = 0;
    stop();
    once();
    stop();
    CHECK(came <= 1 && nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
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

static int compare(const void *a, const void *b) {
  uintptr_t left = *(const uintptr_t *)a, right = *(const uintptr_t *)b;
  return (left > right) - (left < right);
}

/* The instructions of some transactions, each once. The child stands in front of one. */
static size_t list(pid_t child, uintptr_t stop, uintptr_t *listed) {
  struct user_regs_struct registers;
  size_t count = 0, different = 0;
  for (int turns = test_is_long() ? 6 : 1; turns; turns--) {
    do {
      CHECK(count < INSTRUCTIONS_MAX && ptrace(PTRACE_SINGLESTEP, child, 0, 0) == 0);
      listed[count] = wait_for(child, &registers);
    } while (listed[count++] != stop);
    CHECK(go_on(child, 0) == stop);
  }
  qsort(listed, count, sizeof *listed, compare);
  for (size_t i = 0; i < count; i++)
    if (listed[i] != stop && (!different || listed[different - 1] != listed[i]))
      listed[different++] = listed[i];
  return different;
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
  uintptr_t *listed = malloc(INSTRUCTIONS_MAX * sizeof *listed);
  pid_t child = fork();
  CHECK(listed && child >= 0);
  if (!child)
    repeat(once);
  uintptr_t stop = wait_for(child, &registers);
  size_t count = list(child, stop, listed), reached = 0, tried = 0;
  size_t step = test_is_long() ? 1 : 67;
  for (size_t i = test_seed() % step; i < count; i += step, tried++)
    reached += interrupt(child, stop, listed[i]);
  CHECK(count > 500 && reached > tried / 3);
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  free(listed);
}

TEST(stepped_abort) { step_through(abort_once); }

TEST(stepped_commit) { step_through(commit_once); }
