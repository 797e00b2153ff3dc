/* fatal.c: a store for whose log entry there is no room: the handler is told, may jump to where the
 * transaction is aborted, and the thread goes on. If it returns the process is aborted.
 */
#define _GNU_SOURCE
#include "core/thread.h"
#include "harness.h"
#include "store.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { SIZE = 600000, WORDS = SIZE / 8, ROUNDS = 3 };

static NVM_POOL *pool;
static uint64_t *words;
static jmp_buf out;
static volatile unsigned told;

static void jump(enum nvm_error code, const char *message) {
  told++;
  CHECK(code == NVM_ENOSPACE && strstr(message, test_path("disk/pool")) && strstr(message, "; "));
  CHECK(code == nvm_errno() && strcmp(message, nvm_strerror()) == 0);
  longjmp(out, 1);
}

static void make(void) {
  test_small_disk(1200);
  pool = test_create(test_path("disk/pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  words = nvm_calloc(pool, 0, WORDS, 8);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
}

static void store_all(uint64_t value) {
  for (unsigned i = 0; i < WORDS; i++)
    STORE(words[i], value);
}

static void check_all(uint64_t value) {
  for (unsigned i = 0; i < WORDS; i++)
    CHECK(words[i] == value);
}

/* What a thread can do that never was told of anything. */
static void go_on(uint64_t value) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[5], value);
  char *block = nvm_alloc(pool, 0, 100);
  CHECK(block);
  memset(block, 1, 100);
  CHECK(nvm_free(block) == 0);
  CHECK(nvm_tx_commit(pool) == 0 && words[5] == value);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[5], 0);
  STORE(words[6], 99);
  CHECK(nvm_tx_abort(pool) == 0 && words[5] == value && words[6] == 0);
  STORE(words[5], 0);
  __nvm_commit_point();
}

/* With shadow the commit fails instead. */
static bool is_jumped_out_of(void (*store)(uint64_t), uint64_t value) {
  if (setjmp(out) == 0) {
    store(value);
    CHECK(test_is_shadow(pool));
    CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOSPACE);
    return false;
  }
  CHECK(nvm_tx_abort(pool) == 0);
  return true;
}

static void check_and_close(void) {
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("disk/pool"));
  words = nvm_pool_root(pool);
  check_all(0);
  CHECK(test_blocks(pool) == 1 && nvm_pool_close(pool) == 0);
  test_check_pool(test_path("disk/pool"));
}

TEST(fatal_handler_jumps) {
  make();
  nvm_set_fatal_handler(jump);
  for (unsigned round = 1; round <= ROUNDS; round++) {
    CHECK(nvm_tx_begin(pool) == 0);
    bool jumped = is_jumped_out_of(store_all, round);
    CHECK(jumped == !test_is_shadow(pool) && told == round * jumped);
    check_all(0);
    go_on(round);
    CHECK(!nvmi_self->busy && !nvmi_self->touched);
  }
  check_and_close();
}

static void store_ahead(uint64_t value) {
  for (unsigned i = 0; i < WORDS; i += 4) {
    for (unsigned k = i; k < i + 4; k++)
      __nvm_note_ahead(&words[k], 8);
    drain_notes();
    for (unsigned k = i; k < i + 4; k++)
      words[k] = value;
  }
}

static void store_range(uint64_t value) {
  for (unsigned i = 0; i < WORDS; i += 3000) {
    unsigned count = WORDS - i < 3000 ? WORDS - i : 3000;
    __nvm_note(&words[i], count * sizeof *words);
    for (unsigned k = i; k < i + count; k++)
      words[k] = value;
  }
}

/* Noted ahead of their stores, and in long pieces; one after the other. */
TEST(fatal_handler_jumps_elsewhere) {
  void (*const stores[])(uint64_t) = {store_ahead, store_range, store_all};
  make();
  nvm_set_fatal_handler(jump);
  for (unsigned i = 0; i < 3; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    CHECK(is_jumped_out_of(stores[i], 1) == !test_is_shadow(pool));
    check_all(0);
    go_on(7);
  }
  check_and_close();
}

static volatile bool returns;
static void come_back(enum nvm_error code, const char *message) {
  CHECK(code == NVM_ENOSPACE && *message);
  returns = true;
}

static void store_with_handler(void *unused) {
  (void)unused;
  pool = test_open(test_path("disk/pool"));
  words = nvm_pool_root(pool);
  nvm_set_fatal_handler(come_back);
  CHECK(nvm_tx_begin(pool) == 0);
  store_all(1);
  CHECK(!returns && nvm_tx_commit(pool) == -1);
}

TEST(fatal_handler_returns) {
  char said[4096];
  make();
  bool shadow = test_is_shadow(pool);
  CHECK(nvm_pool_close(pool) == 0);
  int status = test_child_says(store_with_handler, NULL, said, sizeof said);
  CHECK(shadow ? status == 0 : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  if (!shadow) {
    CHECK(strstr(said, test_path("disk/pool")) && strstr(said, "cannot grow"));
    CHECK(strstr(said, "opening the pool undoes the open transaction"));
  }
  pool = test_open(test_path("disk/pool"));
  words = nvm_pool_root(pool);
  check_all(0);
  check_and_close();
}
