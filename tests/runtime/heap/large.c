/* large.c: blocks of more than 64 KiB, which are runs of chunks by themselves, are looked at from
 * their first byte to their last. */
#include "harness.h"
#include "store.h"
#include "type_tables.h"

#include "nvmove/abi.h"
#include "nvmove/inspect.h"

#include <stddef.h>
#include <string.h>

struct entry {
  uint64_t number;
  struct entry *next;
};

enum { ENTRY_ID = 5201, ENTRIES = 8000, STEP = 500, SMALL = 64 };

static const struct nvm_field entry_fields[] = {
    TEST_FIELD(entry, next, NVM_FIELD_POINTER, .target = ENTRY_ID)};
static const struct nvm_type entry_type = TEST_TYPE(ENTRY_ID, entry, entry_fields);
TEST_TYPES(described, &entry_type);

static NVM_POOL *make(void) {
  NVM_POOL *pool = test_create(test_path("pool"), 4 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct entry *entries = nvm_calloc(pool, ENTRY_ID, ENTRIES, sizeof *entries);
  CHECK(entries && nvm_pool_set_root(pool, entries) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_usable_size(entries) > 64 << 10);
  return pool;
}

/* One entry a transaction, so that nothing else of the block is known when it is looked at. */
TEST(large_block_with_unsafe_pointers) {
  int local;
  for (int again = 0; again < 2; again++) {
    NVM_POOL *pool = again ? test_open(test_path("pool")) : make();
    struct entry *entries = nvm_pool_root(pool);
    for (unsigned i = 3; i < ENTRIES; i += STEP) {
      CHECK(nvm_tx_begin(pool) == 0);
      STORE(entries[i].number, (uint64_t)(uintptr_t)&local);
      STORE(entries[i].next, (struct entry *)&local);
      CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
      CHECK(strstr(nvm_strerror(), "next of the struct entry") && !entries[i].next);
      CHECK(nvm_tx_begin(pool) == 0);
      STORE(entries[i].number, (uint64_t)(uintptr_t)&local);
      CHECK(nvm_tx_commit(pool) == 0);
    }
    CHECK(nvm_pool_close(pool) == 0);
  }
}

static void refer(NVM_POOL *pool, unsigned i, struct entry *to) {
  struct entry *entries = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(entries[i].next, to ? to : nvm_calloc(pool, ENTRY_ID, 1, SMALL));
  CHECK(entries[i].next && nvm_tx_commit(pool) == 0);
}

TEST(large_block_with_counted_references) {
  NVM_POOL *pool = make();
  uint64_t freed = 0, before = test_blocks(pool);
  CHECK(nvm_pool_count_references(pool) == 0);
  for (unsigned i = 3; i < ENTRIES; i += STEP)
    refer(pool, i, NULL);
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"verify") == 0);
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 0);
  CHECK(test_blocks(pool) == before + (ENTRIES - 3 + STEP - 1) / STEP);
  for (unsigned i = 3; i < ENTRIES; i += STEP)
    refer(pool, i, nvm_pool_root(pool));
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == (ENTRIES - 3 + STEP - 1) / STEP);
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"verify") == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* What is inside of it is not the address of a block, nor is it once the block is gone. */
TEST(large_block_is_freed_at_its_start) {
  NVM_POOL *pool = make();
  char *block = nvm_alloc(pool, 0, 200 << 10);
  CHECK(block);
  for (size_t inside = 16; inside < 200 << 10; inside += 4096) {
    CHECK_FAILS(nvm_free(block + inside) == 0, NVM_EPOINTER);
    CHECK_FAILS(nvm_realloc(pool, block + inside, 5), NVM_EPOINTER);
  }
  CHECK(nvm_free(block) == 0);
  nvm_pool_close(pool);
  pool = test_open(test_path("pool"));
  CHECK_FAILS(nvm_free(block + (64 << 10)) == 0, NVM_EPOINTER);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}
