/* local_blocks.c: blocks that live within one transaction, and what new blocks hold. */
#include "alloc/block_alloc.h"
#include "alloc/block_quick.h"
#include "harness.h"
#include "heap/heap_types.h"
#include "nvmove/inspect.h"
#include "store.h"
#include "types/types.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 1000, SMALL = 40, FEW = 8 };

static struct nvm_stats stats_of(NVM_POOL *pool) {
  struct nvm_stats stats;
  CHECK(nvm_pool_stats(pool, &stats) == 0);
  return stats;
}

static uint64_t blocks_of(NVM_POOL *pool) {
  struct nvm_usage usage;
  CHECK(nvm_pool_usage(pool, &usage) == 0);
  return usage.blocks;
}

static bool is_zero(const char *block, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (block[i])
      return false;
  return true;
}

/* However many there are, one after the other: nothing is logged, nothing is left, one place is
 * enough. */
TEST(local_blocks_cost_nothing) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  void *root = nvm_calloc(pool, 0, 1, SMALL);
  CHECK(nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  struct nvm_stats before = stats_of(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  const char *first = NULL;
  for (int i = 0; i < MANY; i++) {
    char *block = nvm_alloc(pool, 0, SMALL);
    CHECK(block && nvm_usable_size(block) >= SMALL && (!first || block == first));
    first = block;
    CHECK(is_zero(block, nvm_usable_size(block)));
    note_store(block, SMALL);
    memset(block, 'x', SMALL);
    CHECK(nvm_free(block) == 0);
    CHECK_FAILS(nvm_free(block) == 0, NVM_EDOUBLEFREE);
  }
  CHECK(nvm_tx_commit(pool) == 0);
  struct nvm_stats after = stats_of(pool);
  CHECK(after.log_entries == before.log_entries && after.flushed_lines == before.flushed_lines);
  CHECK(after.allocations - before.allocations == MANY && after.frees - before.frees == MANY);
  CHECK(blocks_of(pool) == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

/* More than the table of recent ones knows; some live on. */
static void mix(NVM_POOL *pool, char **blocks, bool ends_well) {
  CHECK(nvm_tx_begin(pool) == 0);
  for (int i = 0; i < MANY; i++) {
    blocks[i] = nvm_alloc(pool, 0, SMALL);
    CHECK(blocks[i] && is_zero(blocks[i], SMALL));
    note_store(blocks[i], SMALL);
    memset(blocks[i], 'a' + i % 26, SMALL);
  }
  for (int i = 0; i < MANY; i += 2)
    CHECK(nvm_free(blocks[i]) == 0);
  for (int i = 0; i < MANY; i += 4) {
    blocks[i] = nvm_alloc(pool, 0, SMALL);
    CHECK(blocks[i] && is_zero(blocks[i], SMALL));
    note_store(blocks[i], SMALL);
    memset(blocks[i], 'a' + i % 26, SMALL);
  }
  CHECK((ends_well ? nvm_tx_commit(pool) : nvm_tx_abort(pool)) == 0);
}

TEST(local_blocks_beside_what_lives_on) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  static char *blocks[MANY];
  mix(pool, blocks, false);
  CHECK(blocks_of(pool) == 0);
  mix(pool, blocks, true);
  CHECK(blocks_of(pool) == MANY * 3 / 4);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  for (int i = 0; i < MANY; i++)
    if (i % 2 || i % 4 == 0)
      for (int j = 0; j < SMALL; j++)
        CHECK(blocks[i][j] == 'a' + i % 26);
  CHECK(blocks_of(pool) == MANY * 3 / 4 && nvm_pool_close(pool) == 0);
}

static const struct nvm_field link_fields[] = {
    {.name = "link", .offset = 0, .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER}};
static const struct nvm_type link_type = {.id = 77,
                                          .name = "struct link",
                                          .size = 8,
                                          .alignment = 8,
                                          .field_count = 1,
                                          .fields = link_fields};

/* What a log keeps for the same type is anyone's. */
static NVM_POOL *reopened(NVM_POOL *pool) {
  CHECK(nvm_pool_close(pool) == 0);
  return test_open(test_path("pool"));
}

/* Bytes that nobody stored to since the block was another's are no pointers. */
TEST(small_blocks_forget) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvmi_type_describe(pool, &link_type) > 0);
  int local;
  for (int i = 0; i < 3; i++) {
    pool = reopened(pool);
    CHECK(nvm_tx_begin(pool) == 0);
    void **bytes = nvm_alloc(pool, 0, 32);
    CHECK(bytes != NULL);
    for (int j = 0; j < 4; j++)
      STORE(bytes[j], &local);
    CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
    CHECK(nvm_free(bytes) == 0 && nvm_tx_commit(pool) == 0);
    pool = reopened(pool);
    CHECK(nvm_tx_begin(pool) == 0);
    void **link = nvm_alloc(pool, link_type.id, 24);
    CHECK(link == bytes);
    STORE(link[0], link);
    CHECK(nvm_tx_commit(pool) == 0);
    CHECK(nvm_free(link) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* Blocks that the table of recent ones has one place for: four of them at once are known. */
TEST(local_blocks_that_share_a_place) {
  enum { BLOCK = 64, PERIOD = 16 * NVMI_RECENT_SETS };
  NVM_POOL *pool = test_create(test_path("pool"), 16 << 20);
  char *alike[4] = {0};
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned found = 0; found < 4;) {
    char *block = nvm_alloc(pool, 0, BLOCK);
    CHECK(block != NULL);
    if (!alike[0] || (uintptr_t)block % PERIOD == (uintptr_t)alike[0] % PERIOD)
      alike[found++] = block;
  }
  CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < 4; i++)
    CHECK(nvm_free(alike[i]) == 0);
  CHECK(nvm_tx_commit(pool) == 0);
  struct nvm_stats before = stats_of(pool);
  for (unsigned round = 0; round < 3; round++) {
    char *blocks[4];
    CHECK(nvm_tx_begin(pool) == 0);
    for (unsigned i = 0; i < 4; i++) {
      blocks[i] = nvm_alloc(pool, 0, BLOCK);
      CHECK((uintptr_t)blocks[i] % PERIOD == (uintptr_t)alike[0] % PERIOD);
    }
    for (unsigned i = 0; i < 4; i++)
      CHECK(nvm_free(blocks[i]) == 0);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  CHECK(stats_of(pool).log_entries == before.log_entries && nvm_pool_close(pool) == 0);
}

/* What the table of recent ones knew of small blocks of earlier transactions says nothing about a
 * large one that has their place in the list. */
TEST(large_blocks_are_not_local) {
  enum { SMALL_ONE = 16, LARGE = 100000, ALIGNED = 16 * NVMI_RECENT_SETS };
  NVM_POOL *pool = test_create(test_path("pool"), 16 << 20);
  for (unsigned round = 0; round < 20; round++) {
    unsigned before = 0;
    CHECK(nvm_tx_begin(pool) == 0);
    while ((uintptr_t)nvm_alloc(pool, 0, SMALL_ONE) % ALIGNED)
      before++;
    CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
    for (unsigned i = 0; i < before; i++)
      CHECK(nvm_alloc(pool, 0, 2 * SMALL_ONE));
    void *large = nvm_alloc(pool, 0, LARGE);
    CHECK(large && (uintptr_t)large % ALIGNED == 0 && nvm_usable_size(large) >= LARGE);
    CHECK(nvm_free(large) == 0 && nvm_tx_commit(pool) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

/* What is stored to new blocks in long stretches goes to the file, not into the record that tells
 * of it: of a group of transactions' worth of them, however often it is stored anew. */
TEST(new_blocks_go_directly) {
  enum { BLOCKS = 100, BYTES = 2000, TIMES = 3 };
  NVM_POOL *pool = test_create(test_path("pool"), 4 << 20);
  bool goes = test_is_shadow(pool) && !test_is_on_disk(pool);
  static char *blocks[BLOCKS];
  for (unsigned round = 0; round < 5; round++) {
    struct nvm_stats before = stats_of(pool);
    CHECK(nvm_tx_begin(pool) == 0);
    for (unsigned i = 0; i < BLOCKS; i++) {
      CHECK(!round || nvm_free(blocks[i]) == 0);
      CHECK((blocks[i] = nvm_alloc(pool, 0, BYTES)));
      for (unsigned times = 0; times < TIMES; times++) {
        note_store(blocks[i], BYTES);
        memset(blocks[i], 'a' + (int)(round + i + times) % 20, BYTES);
      }
    }
    CHECK(nvm_tx_commit(pool) == 0);
    uint64_t bytes = stats_of(pool).log_bytes - before.log_bytes;
    CHECK(!goes || round < 2 || bytes < BLOCKS * BYTES / 4);
  }
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  for (unsigned i = 0; i < BLOCKS; i++)
    for (unsigned j = 0; j < BYTES; j++)
      CHECK(blocks[i][j] == 'a' + (int)(4 + i + TIMES - 1) % 20);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Of one block, too, where the rest of the record is short; the fence that this takes is a checkpoint
 * of the records before, so a block may be one that was freed a transaction ago. */
TEST(one_new_block_goes_directly) {
  enum { BYTES = 1000, RECORD = 256, FENCES = 2 };
  NVM_POOL *pool = test_create(test_path("pool"), 4 << 20);
  bool goes = test_is_shadow(pool) && !test_is_on_disk(pool);
  char *block = NULL;
  for (int turn = 0; turn < 20; turn++) {
    struct nvm_stats before = stats_of(pool);
    CHECK(nvm_tx_begin(pool) == 0 && nvm_free(block) == 0);
    CHECK((block = nvm_alloc(pool, 0, BYTES)) && nvm_pool_set_root(pool, block) == 0);
    note_store(block, BYTES);
    memset(block, 'a' + turn, BYTES);
    CHECK(nvm_tx_commit(pool) == 0);
    struct nvm_stats after = stats_of(pool);
    CHECK(!goes || after.log_bytes - before.log_bytes <= RECORD);
    CHECK(!goes || turn == 0 || after.fences - before.fences == FENCES);
    CHECK(!goes || after.flushed_lines - before.flushed_lines >= BYTES / NVM_LINE_SIZE);
  }
  CHECK(nvm_pool_close(pool) == 0);
  block = nvm_pool_root(pool = test_open(test_path("pool")));
  for (unsigned i = 0; i < BYTES; i++)
    CHECK(block[i] == 'a' + 19);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The same of larger ones whose type has pointers: in a block that was text in the same
 * transaction, in one that was text before, in what realloc copies. */
TEST(larger_blocks_forget) {
  enum { SIZE = 560, USED = 528 };
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvmi_type_describe(pool, &link_type) > 0);
  for (unsigned round = 0; round < 3; round++) {
    pool = reopened(pool);
    CHECK(nvm_tx_begin(pool) == 0);
    char *text = nvm_alloc(pool, 0, SIZE);
    size_t size = nvm_usable_size(text);
    note_store(text, size);
    memset(text, 'f', size);
    for (size_t i = 0; i < size; i += sizeof(uint64_t))
      memcpy(text + i, &(uint64_t){0xff34fe}, sizeof(uint64_t));
    if (round)
      CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
    CHECK(nvm_free(text) == 0);
    if (round) {
      CHECK(nvm_tx_commit(pool) == 0);
      pool = reopened(pool);
      CHECK(nvm_tx_begin(pool) == 0);
    }
    char *links = nvm_alloc(pool, link_type.id, USED);
    CHECK(links == text);
    note_store(links, USED);
    memset(links, 0, USED);
    if (round == 2)
      CHECK((links = nvm_realloc(pool, links, 2 * SIZE)));
    CHECK(nvm_tx_commit(pool) == 0 && nvm_free(links) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* As free does. */
static void frees(void *block) { CHECK(nvmi_free_soon(block) || nvm_free(block) == 0); }

/* What free finds a little later comes to the same: the blocks are freed with the transaction, or
 * not at all. */
TEST(frees_that_wait) {
  enum { COUNT = 20 };
  void *blocks[COUNT];
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  for (int i = 0; i < COUNT; i++)
    blocks[i] = nvm_alloc(pool, 0, SMALL);
  CHECK(nvm_tx_commit(pool) == 0);
  struct nvm_stats before = stats_of(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  for (int i = 0; i < COUNT; i++)
    frees(blocks[i]);
  nvm_tx_abort(pool);
  CHECK(blocks_of(pool) == COUNT);
  CHECK(nvm_tx_begin(pool) == 0);
  for (int i = 0; i < COUNT; i++)
    frees(blocks[i]);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvmi_self->touched == 0);
  CHECK(blocks_of(pool) == 0 && stats_of(pool).frees - before.frees == 2 * COUNT);
  for (int i = 0; i < COUNT; i++)
    CHECK_FAILS(nvm_free(blocks[i]) == 0, NVM_EDOUBLEFREE);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Twice in one transaction: at its end the process dies, and nothing was freed. */
TEST(free_twice_is_found_at_the_end) {
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 1 << 20);
  void *block = nvm_alloc(pool, 0, SMALL);
  CHECK(nvm_pool_set_root(pool, block) == 0 && nvm_pool_close(pool) == 0);
  pid_t child = fork();
  if (child == 0) {
    pool = nvm_pool_open(path);
    nvm_tx_begin(pool);
    frees(nvm_pool_root(pool));
    frees(nvm_pool_root(pool));
    nvm_tx_commit(pool);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  pool = nvm_pool_open(path);
  CHECK(pool && blocks_of(pool) == 1 && nvm_pool_close(pool) == 0);
}
