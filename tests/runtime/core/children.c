/* children.c: a forked child can change nothing of its parent's pool, whatever it tries: each call
 * fails with NVM_ECHILD. With shadow it keeps the memory of the fork, with undo it has none: a
 * store is SIGSEGV. The parent goes on meanwhile.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include "nvmove/backup.h"
#include "nvmove/inspect.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 512, LARGE = 300000, TYPE = 77 };

struct root {
  uint64_t words[WORDS];
  char *large, *small;
};

static NVM_POOL *pool;
static struct root *root;
static int from_parent[2];

static void fill(uint64_t value) {
  for (unsigned i = 0; i < WORDS; i++)
    STORE(root->words[i], value);
}

static void check_words(uint64_t value) {
  for (unsigned i = 0; i < WORDS; i++)
    CHECK(root->words[i] == value);
}

static void make(void) {
  pool = test_create(test_path("pool"), 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0);
  STORE(root->large, nvm_alloc(pool, 0, LARGE));
  STORE(root->small, nvm_alloc(pool, 0, 100));
  fill(1);
  CHECK(nvm_tx_commit(pool) == 0);
}

/* As make(), opened again: no page of the view is private, the heap's tables are not read. */
static void make_and_open(void) {
  make();
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  root = nvm_pool_root(pool);
}

static bool tell(void *context, const struct nvm_block *block) {
  (void)context, (void)block;
  return true;
}

static void try_heap(char *small) {
  CHECK_FAILS(nvm_alloc(pool, 0, 8), NVM_ECHILD);
  CHECK_FAILS(nvm_alloc(pool, TYPE, 8), NVM_ECHILD);
  CHECK_FAILS(nvm_alloc(pool, 0, LARGE), NVM_ECHILD);
  CHECK_FAILS(nvm_calloc(pool, 0, 2, 8), NVM_ECHILD);
  CHECK_FAILS(nvm_realloc(pool, NULL, 8), NVM_ECHILD);
  CHECK_FAILS(nvm_realloc(pool, small, LARGE), NVM_ECHILD);
  CHECK_FAILS(nvm_free(small) == 0, NVM_ECHILD);
  CHECK(nvm_usable_size(small) == 112 || nvm_errno() == NVM_ECHILD);
}

static void try_whole_pool(void) {
  struct nvm_usage usage;
  struct nvm_account account;
  struct nvm_collected collected;
  uint64_t blocks;
  CHECK_FAILS(nvm_pool_usage(pool, &usage) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_account(pool, &account) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_verify(pool, NULL, NULL) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_verify_pointers(pool, NULL, NULL) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_each_block(pool, false, tell, NULL) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_collect(pool, &collected) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_count_references(pool) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_release(pool, &blocks) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_resize(pool, 4 << 20) == 0, NVM_ECHILD);
  CHECK_FAILS(nvm_pool_backup(pool, test_path("copy"), NULL) == 0, NVM_ECHILD);
}

static void try_transaction(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ECHILD);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_tx_abort(pool) == 0);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOTX);
}

/* What both methods have in common. */
static void try_all(bool shadow, char *small) {
  struct nvm_info info;
  struct nvm_stats stats;
  char byte;
  alarm(20);
  CHECK(read(from_parent[0], &byte, 1) == 1); /* until it has committed something else */
  try_heap(small);
  try_whole_pool();
  if (!shadow)
    try_transaction();
  CHECK(nvm_pool_info(pool, &info) == 0 && nvm_pool_stats(pool, &stats) == 0);
  CHECK(nvm_pool_of(small) == pool && nvm_pool_base(pool));
  CHECK_FAILS(nvm_pool_open(test_path("pool")), NVM_EBUSY);
}

static void child_of_shadow(char *small) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->words[0], 99);
  try_all(true, small);
  STORE(root->words[1], 99);
  CHECK(nvm_pool_set_root(pool, small) == 0 && nvm_pool_root(pool) == small);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ECHILD);
  CHECK(root->words[0] == 99 && root->words[1] == 99); /* its copy stays its own */
  STORE(root->words[0], 1);
  STORE(root->words[1], 1);
  check_words(1);
  STORE(root->words[2], 98); /* outside transactions */
  CHECK(nvm_tx_begin(pool) == 0 && nvm_tx_abort(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  exit(0);
}

static void store_in_child(void) {
  signal(SIGSEGV, SIG_DFL);
  STORE(root->words[0], 99);
  _exit(0);
}

static void set_root_in_child(void) {
  signal(SIGSEGV, SIG_DFL);
  nvm_pool_set_root(pool, NULL);
  _exit(0);
}

static void child_of_undo(char *small) {
  try_all(false, small);
  CHECK(nvm_pool_close(pool) == 0);
  exit(0);
}

static pid_t fork_into(void (*body)(char *), char *small) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0)
    body(small);
  return pid;
}

static int wait_for(pid_t pid) {
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid);
  return status;
}

static void store_badly(void *body) { ((void (*)(void))body)(); }

/* With undo: no mapping. */
static void check_segv(void (*body)(void)) {
  int status = test_child(NULL, store_badly, (void *)body);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void check_pool(uint64_t value) {
  check_words(value);
  CHECK(nvm_pool_root(pool) == root && test_blocks(pool) == 3);
  CHECK(nvm_pool_verify(pool, test_print_fault, NULL) == 0 && nvm_pool_close(pool) == 0);
  CHECK(access(test_path("copy"), F_OK) != 0);
  test_check_pool(test_path("pool"));
  pool = test_open(test_path("pool"));
  root = nvm_pool_root(pool);
  check_words(value);
  CHECK(root->large[200000] == 1);
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void fork_beside_commits(void) {
  bool shadow = test_is_shadow(pool);
  CHECK(pipe(from_parent) == 0);
  pid_t child = fork_into(shadow ? child_of_shadow : child_of_undo, root->small);
  CHECK(nvm_tx_begin(pool) == 0);
  fill(2);
  STORE(root->large[200000], 1);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(write(from_parent[1], "x", 1) == 1);
  CHECK(wait_for(child) == 0);
  if (!shadow) {
    check_segv(store_in_child);
    check_segv(set_root_in_child);
  }
  check_pool(2);
}

TEST(fork_with_a_pool_open) {
  make_and_open();
  fork_beside_commits();
}

/* Each page has its private copy before, whatever makes it. */
TEST(fork_on_an_old_kernel) {
  fault_old_kernel = true;
  make_and_open();
  fork_beside_commits();
}

/* Where the heap's tables are known at the fork. */
TEST(fork_with_a_pool_in_use) {
  make();
  fork_beside_commits();
}

/* In the child the transaction that the parent had open is open, too, and can only end. */
static void end_inherited(void *abort) {
  CHECK((abort ? nvm_tx_abort : nvm_tx_commit)(pool) == (abort ? 0 : -1));
  CHECK(abort || nvm_errno() == NVM_ECHILD);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOTX);
  CHECK(nvm_pool_close(pool) == 0);
  exit(0);
}

/* What it does to a pool of its own is no part of the inherited transaction. */
static void use_own(void *unused) {
  (void)unused;
  pool = test_create(test_path("own"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  STORE(root->words[0], 7);
  CHECK(nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->words[0], 8);
  CHECK(nvm_tx_abort(pool) == 0 && root->words[0] == 7);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOTX);
  _exit(0);
}

static void check_own(void) {
  NVM_POOL *own = test_open(test_path("own"));
  const struct root *kept = nvm_pool_root(own);
  CHECK(kept && kept->words[0] == 7 && nvm_pool_close(own) == 0);
  CHECK(unlink(test_path("own")) == 0);
}

static void leave_inherited(void *unused) {
  (void)unused;
  exit(0);
}

TEST(fork_inside_a_transaction) {
  make();
  CHECK(nvm_tx_begin(pool) == 0);
  fill(2);
  STORE(root->large[200000], 1);
  char *more = nvm_alloc(pool, 0, 100);
  CHECK(more && nvm_free(root->small) == 0);
  STORE(root->small, more);
  CHECK(test_child(NULL, end_inherited, NULL) == 0);
  CHECK(test_child(NULL, end_inherited, pool) == 0);
  CHECK(test_child(NULL, leave_inherited, NULL) == 0);
  CHECK(test_child(NULL, use_own, NULL) == 0);
  check_own();
  STORE(root->words[5], 2);
  CHECK(nvm_tx_commit(pool) == 0);
  check_pool(2);
}
