/* nested.c: a signal handler stores while its thread is in the heap. */
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 40000, PART = 64, OFTEN = 300, LARGE = 3 << 20 };

static NVM_POOL *pool;
static struct root {
  uint64_t other, words[WORDS];
} *root;
static uint64_t value;       /* that the handler stores */
static unsigned words, rest; /* to how many words, and how many steps pass before */
static enum nvmi_step where;

static void store_words(int number) {
  (void)number;
  for (unsigned i = 0; i + PART <= words; i += PART) {
    note_store(root->words + i, PART * sizeof *root->words);
    for (unsigned k = i; k < i + PART; k++)
      root->words[k] = value;
  }
}

static void store_often(int number) {
  for (unsigned i = 0; i < OFTEN; i++)
    store_words(number);
}

static void raise_at(enum nvmi_step step) {
  if (step == where && rest && !--rest)
    raise(SIGUSR1);
}

static void begin(void (*handler)(int)) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  signal(SIGUSR1, handler);
  hook_steps(raise_at);
}

/* The pool grows, and the handler comes meanwhile. */
static void grow(uint64_t stored, unsigned count, size_t size) {
  value = stored;
  words = count;
  where = NVMI_STEP_GROW;
  rest = 1;
  STORE(root->other, stored);
  CHECK(nvm_alloc(pool, 0, size) && !rest && root->words[0] == stored);
}

static void grow_in_transaction(uint64_t stored, unsigned count, size_t size) {
  CHECK(nvm_tx_begin(pool) == 0);
  grow(stored, count, size);
}

static void end(uint64_t stored) {
  hook_steps(NULL);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  root = nvm_pool_root(pool);
  CHECK(root->other == stored && root->words[0] == stored && root->words[PART - 1] == stored);
  CHECK(nvm_pool_close(pool) == 0 && unlink(test_path("pool")) == 0);
}

/* The log, which cannot become longer there, gets the same bytes once. */
TEST(nested_stores_to_the_same_bytes) {
  begin(store_often);
  grow_in_transaction(5, PART, LARGE);
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(root->other == 0 && root->words[0] == 0 && root->words[PART - 1] == 0);
  grow_in_transaction(7, PART, 2 * LARGE);
  CHECK(nvm_tx_commit(pool) == 0);
  end(7);
}

/* Bytes between two noted ones of a line are not noted. */
static void store_around(int number) {
  (void)number;
  STORE(root->words[0], value);
  STORE(root->words[2], value);
  note_store(root->words, 3 * sizeof *root->words);
  root->words[1] = value;
}

TEST(nested_stores_to_parts_of_a_line) {
  begin(store_around);
  grow_in_transaction(5, 0, LARGE);
  CHECK(root->words[1] == 5 && nvm_tx_abort(pool) == 0);
  CHECK(root->words[0] == 0 && root->words[1] == 0 && root->words[2] == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A first handler comes while a transaction ends, at its step `at`: its bytes may have been noted for
 * that one. What the handler stores to them behind the commit is undone when the process dies. */
static void store_behind_a_commit(void *at) {
  begin(store_words);
  value = 3;
  words = PART;
  where = NVMI_STEP_COMMIT;
  rest = *(const unsigned *)at;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->other, 3);
  CHECK(nvm_tx_commit(pool) == 0);
  if (rest)
    _exit(1);
  grow(5, PART, LARGE);
  raise(SIGKILL);
}

TEST(nested_stores_behind_a_commit) {
  unsigned at = 1;
  for (; test_was_killed(test_child(NULL, store_behind_a_commit, &at)); at++) {
    pool = test_open(test_path("pool"));
    root = nvm_pool_root(pool);
    CHECK(root->other == 3 && (root->words[0] == 3 || root->words[0] == 0));
    CHECK(root->words[PART - 1] == root->words[0]);
    CHECK(nvm_pool_close(pool) == 0 && unlink(test_path("pool")) == 0);
  }
  CHECK(at > 2);
}

static void raise_each(enum nvmi_step step) {
  if (step == NVMI_STEP_COMMIT)
    raise(SIGUSR1);
}

/* A handler comes whenever a commit may be interrupted: the commit ends all the same. */
TEST(nested_stores_at_each_step_of_a_commit) {
  begin(store_words);
  value = 5;
  words = PART;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->other, value);
  hook_steps(raise_each);
  CHECK(nvm_tx_commit(pool) == 0);
  hook_steps(NULL);
  CHECK(root->words[0] == value && nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  end(value);
}

static void store_too_much(void *unused) {
  (void)unused;
  begin(store_words);
  grow(5, WORDS, LARGE);
}

TEST_ONCE(nested_stores_are_too_many) {
  char said[1000];
  for (int i = 0; i < 2; i++) {
    setenv("NVMOVE_METHOD", i ? "shadow" : "undo", 1);
    int status = test_child_says(store_too_much, NULL, said, sizeof said);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(said, "signal handlers store too much"));
    unlink(test_path("pool"));
  }
}
