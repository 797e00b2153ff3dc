/* ahead.c: notes ahead of their stores: one wait for several, and nothing trusts them before it. */
#include "core/pool.h"
#include "harness.h"
#include "store.h"

enum { WORDS = 1024, FAR = 8 };

static NVM_POOL *pool;

static uint64_t *words_of_new_pool(void) {
  pool = test_create(test_path("pool"), 2 << 20);
  nvm_tx_begin(pool);
  uint64_t *words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  return words;
}

static struct nvm_stats stats(void) {
  struct nvm_stats now;
  CHECK(nvm_pool_stats(pool, &now) == 0);
  return now;
}

static bool is_noted(const uint64_t *word) {
  uint64_t line = (uint64_t)(uintptr_t)word >> 6;
  const struct nvm_line *slot = &__nvm_lines->slot[line & (NVM_LINE_SLOTS - 1)];
  return slot->line == line && !(slot->missing >> ((uintptr_t)word & 63) & 0xff);
}

TEST(ahead_waits_once) {
  uint64_t *words = words_of_new_pool();
  bool logs = pool->method->note != NULL;
  nvm_tx_begin(pool);
  struct nvm_stats before = stats();
  for (int i = 0; i < 5; i++)
    __nvm_note_ahead(&words[FAR * i], sizeof *words);
  CHECK(stats().fences == before.fences);
  CHECK(is_noted(&words[0]) == !logs); /* undo: its entry is not durable yet */
  CHECK((__nvm_lines->ahead != 0) == logs);
  drain_notes();
  CHECK(stats().fences == before.fences + logs &&
        stats().log_entries == before.log_entries + 5 * logs);
  for (int i = 0; i < 5; i++) {
    CHECK(is_noted(&words[FAR * i]));
    words[FAR * i] = 7;
  }
  CHECK(nvm_tx_abort(pool) == 0);
  for (int i = 0; i < 5; i++)
    CHECK(words[FAR * i] == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* More than the list holds; also addresses outside, no bytes at all, and what was noted already. */
TEST(ahead_of_many) {
  uint64_t *words = words_of_new_pool(), outside;
  nvm_tx_begin(pool);
  STORE(words[0], 1);
  for (int i = 0; i < WORDS / FAR; i++)
    __nvm_note_ahead(&words[FAR * i], sizeof *words);
  __nvm_note_ahead(&outside, sizeof outside);
  __nvm_note_ahead(&words[3], 0);
  drain_notes();
  CHECK(__nvm_lines->ahead == 0 && !is_noted(&words[3]));
  for (int i = 0; i < WORDS / FAR; i++)
    words[FAR * i] = 9;
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  for (int i = 0; i < WORDS; i++)
    CHECK(words[i] == (i % FAR ? 0 : 9));
  CHECK(nvm_pool_close(pool) == 0);
}

/* A signal handler that jumps away between the notes and their stores, into the abort. */
TEST(ahead_and_away) {
  uint64_t *words = words_of_new_pool();
  nvm_tx_begin(pool);
  __nvm_note_ahead(&words[0], sizeof *words);
  CHECK(nvm_tx_abort(pool) == 0 && __nvm_lines->ahead == 0);
  nvm_tx_begin(pool);
  CHECK(!is_noted(&words[0]));
  STORE(words[0], 5);
  CHECK(nvm_tx_commit(pool) == 0 && words[0] == 5);
  CHECK(nvm_pool_close(pool) == 0);
}
