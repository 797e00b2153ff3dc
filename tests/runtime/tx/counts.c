/* counts.c: how many fences, entries and log bytes a transaction costs. They repeat; times do not.
 */
#include "core/pool.h"
#include "harness.h"
#include "store.h"

#include <string.h>

enum { WORDS = 64 * 1024 };

static struct nvm_stats before;

static struct nvm_stats since(NVM_POOL *pool) {
  struct nvm_stats now;
  nvm_pool_stats(pool, &now);
  struct nvm_stats change = {.log_entries = now.log_entries - before.log_entries,
                             .log_bytes = now.log_bytes - before.log_bytes,
                             .fences = now.fences - before.fences,
                             .notes = now.notes - before.notes,
                             .commits = now.commits - before.commits,
                             .flushed_lines = now.flushed_lines - before.flushed_lines};
  before = now;
  return change;
}

static bool is_power(NVM_POOL *pool) {
  struct nvm_info info;
  return nvm_pool_info(pool, &info) == 0 && info.domain != NVM_DOMAIN_PROCESS;
}

/* Stores of 8 bytes, each to a line of its own. */
static struct nvm_stats stores(NVM_POOL *pool, uint64_t *words, unsigned count) {
  nvm_tx_begin(pool);
  for (unsigned i = 0; i < count; i++) {
    STORE(words[16 * i], i + 1);
    STORE(words[16 * i], i); /* noted already */
  }
  CHECK(nvm_tx_commit(pool) == 0);
  return since(pool);
}

TEST(fences_of_stores) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  nvm_tx_begin(pool);
  uint64_t *words = nvm_alloc(pool, 0, WORDS * sizeof *words);
  CHECK(words && nvm_tx_commit(pool) == 0);
  since(pool);
  for (unsigned count = 1; count <= 64; count *= 4) {
    struct nvm_stats s = stores(pool, words, count);
    CHECK(s.commits == 1);
    if (test_is_shadow(pool)) {
      CHECK(s.fences == !test_is_delayed());
      CHECK(s.log_entries == 1 && s.log_bytes <= 16 * count + 2 * 64);
    } else {
      bool checked = is_power(pool) && count <= 16;
      CHECK(s.fences == count + (checked ? 1 : 2));
      CHECK(s.log_entries == count + (checked ? 2 : 1) && s.log_bytes == 64 * s.log_entries);
      CHECK(s.flushed_lines == count);
    }
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* Allocating a block and linking it costs no fence beyond those of the link's store. */
TEST(fences_of_alloc_and_link) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  nvm_tx_begin(pool);
  void **slots = nvm_alloc(pool, 0, 100 * sizeof *slots);
  void *first = nvm_alloc(pool, 0, 1024); /* the span is there */
  CHECK(slots && first && nvm_tx_commit(pool) == 0);
  since(pool);
  for (int i = 0; i < 10; i++) {
    nvm_tx_begin(pool);
    void *block = nvm_alloc(pool, 0, 1024);
    STORE(slots[i], block);
    CHECK(nvm_tx_commit(pool) == 0);
    struct nvm_stats s = since(pool);
    if (test_is_shadow(pool))
      CHECK(s.fences == !test_is_delayed() && s.log_entries == 1 && s.log_bytes == 64);
    else
      CHECK(s.fences == (is_power(pool) ? 2 : 3));
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* Memory allocated in the same transaction needs no undo entry; an empty transaction costs nothing.
 */
TEST(nothing_for_fresh_memory) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  nvm_tx_begin(pool);
  void *first = nvm_alloc(pool, 0, 4000);
  CHECK(first && nvm_tx_commit(pool) == 0);
  since(pool);
  nvm_tx_begin(pool);
  CHECK(nvm_tx_commit(pool) == 0);
  struct nvm_stats s = since(pool);
  CHECK(s.fences == 0 && s.log_entries == 0 && s.commits == 0);
  nvm_tx_begin(pool);
  char *block = nvm_alloc(pool, 0, 4000);
  __nvm_note(block, 4000);
  memset(block, 1, 4000);
  CHECK(nvm_tx_commit(pool) == 0);
  s = since(pool);
  if (!test_is_shadow(pool))
    CHECK(s.log_entries == 1 && s.log_bytes == 64 && s.fences == 2);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A second log: with shadow a commit still is one fence; with undo it fences data and record apart.
 */
TEST(fences_with_several_logs) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  nvm_tx_begin(pool);
  uint64_t *words = nvm_alloc(pool, 0, WORDS * sizeof *words);
  CHECK(words && nvm_tx_commit(pool) == 0);
  pool->several_logs = true;
  since(pool);
  struct nvm_stats s = stores(pool, words, 4);
  CHECK(s.fences == (test_is_delayed() ? 0 : test_is_shadow(pool) ? 1 : 6));
  CHECK(nvm_pool_close(pool) == 0);
}

/* Chunks that were never used are zero: nothing is stored or logged. Used ones are cleared. */
TEST(large_calloc) {
  NVM_POOL *pool = test_create(test_path("pool"), 8 << 20);
  for (int i = 0; i < 3; i++) {
    nvm_tx_begin(pool);
    unsigned char *bytes = nvm_calloc(pool, 0, 1, 6 << 20);
    CHECK(bytes != NULL);
    for (size_t j = 0; j < 6 << 20; j += 512)
      CHECK(bytes[j] == 0);
    __nvm_note(bytes + 100000, 200000);
    memset(bytes + 100000, 1, 200000);
    CHECK((i ? nvm_tx_commit(pool) : nvm_tx_abort(pool)) == 0);
    struct nvm_stats s = since(pool);
    CHECK(i || s.log_bytes < 4096);
    if (!i)
      continue;
    nvm_tx_begin(pool);
    CHECK(nvm_free(bytes) == 0 && nvm_tx_commit(pool) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}
