/* kept.c: free blocks that a log keeps for its next allocations. */
#include "harness.h"
#include "heap/heap_spans.h"
#include "heap/heap_types.h"
#include "store.h"
#include "types/types.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 1000, SMALL = 40, FEW = 8 };

/* As many blocks as the pool has room for, a few in a transaction. */
static size_t fill(NVM_POOL *pool, size_t size, void **blocks) {
  size_t count = 0;
  bool full = false;
  while (!full) {
    CHECK(nvm_tx_begin(pool) == 0);
    for (unsigned i = 0; i < FEW && !full; i++) {
      blocks[count] = nvm_alloc(pool, 0, size);
      full = !blocks[count];
      count += !full;
    }
    CHECK((!full || nvm_errno() == NVM_ENOSPACE) && nvm_tx_commit(pool) == 0);
  }
  return count;
}

static void empty(NVM_POOL *pool, void **blocks, size_t count) {
  for (size_t i = 0; i < count; i += FEW) {
    CHECK(nvm_tx_begin(pool) == 0);
    for (size_t j = i; j < i + FEW && j < count; j++)
      CHECK(nvm_free(blocks[j]) == 0);
    CHECK(nvm_tx_commit(pool) == 0);
  }
}

/* What a log keeps for blocks of one size is there for others when nothing else is: where the pool
 * cannot grow, as many fit as when nothing else ever was there. */
TEST(kept_blocks_are_given_back) {
  enum { POOL = 8 << 20 };
  static void *blocks[POOL / 128];
  NVM_POOL *pool = test_create(test_path("pool"), POOL);
  struct stat file;
  CHECK(stat(test_path("pool"), &file) == 0);
  struct rlimit limit = {(rlim_t)file.st_size, (rlim_t)file.st_size};
  CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
  size_t room = fill(pool, 512, blocks);
  CHECK(room > POOL / 512 / 2);
  CHECK(nvm_pool_close(pool) == 0 && unlink(test_path("pool")) == 0);
  pool = test_create(test_path("pool"), POOL);
  size_t small = fill(pool, 128, blocks);
  empty(pool, blocks, small);
  const struct nvmi_log *log = nvmi_self->logs[pool->index];
  CHECK(log->blocks.ready_chunks > 0);
  /* What one class leaves to the others is as much as it has. */
  CHECK(log->blocks.ready_chunks <= ((pool->header.heap_size >> NVM_CHUNK_SHIFT) / 8 + 1) / 2);
  size_t again = fill(pool, 512, blocks); /* less where the log became longer meanwhile */
  CHECK(again == room || (test_is_delayed() && again >= room / 2));
  CHECK(nvm_pool_close(pool) == 0);
}

/* However many of one size came free: those of another that come free later are kept, too. */
TEST(kept_blocks_are_shared_out) {
  enum { OTHER = 2000 };
  static void *blocks[MANY];
  NVM_POOL *pool = test_create(test_path("pool"), 32 << 20);
  void *others[FEW];
  CHECK(nvm_tx_begin(pool) == 0);
  for (int i = 0; i < FEW; i++)
    CHECK((others[i] = nvm_alloc(pool, 0, OTHER)));
  for (int i = 0; i < MANY; i++)
    CHECK((blocks[i] = nvm_alloc(pool, 0, SMALL)));
  CHECK(nvm_tx_commit(pool) == 0);
  empty(pool, blocks, MANY);
  const struct nvmi_log *log = nvmi_self->logs[pool->index];
  unsigned before = log->blocks.ready_chunks;
  CHECK(before && before < MANY);
  CHECK(nvm_tx_begin(pool) == 0);
  for (int i = 0; i < FEW; i++)
    CHECK(nvm_free(others[i]) == 0);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(log->blocks.ready_chunks ==
        before + FEW * pool->heap->geometry[nvmi_class_of(OTHER)].chunks);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A block that comes free is for what is allocated with the same type: what is added beside it, of
 * other types, comes to lie in a row. */
TEST(kept_blocks_are_for_their_type) {
  enum { VALUES = 100 };
  static const struct nvm_type types[] = {{.id = 101, .name = "struct value", .size = SMALL},
                                          {.id = 103, .name = "struct record", .size = SMALL}};
  NVM_POOL *pool = test_create(test_path("pool"), 64 << 20);
  for (unsigned i = 0; i < 2; i++)
    CHECK(nvmi_type_describe(pool, &types[i]) > 0);
  char *values[VALUES], *last = NULL;
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < VALUES; i++) {
    CHECK((values[i] = nvm_alloc(pool, types[0].id, SMALL)));
    last = values[i];
  }
  CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < VALUES; i += 2)
    CHECK(nvm_free(values[i]) == 0);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < VALUES; i += 2) {
    char *record = nvm_alloc(pool, types[1].id, SMALL);
    CHECK(record == last + nvm_usable_size(last));
    last = record;
    char *value = nvm_alloc(pool, types[0].id, SMALL);
    CHECK(value == values[VALUES - 2 - i]);
  }
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}
