/* statics_holes.c: a damaged entry of the table of static data is no end of the table
 * (runtime/symbols/statics_table.c).
 */
#include "bound.h"
#include "format/layout_tables.h"
#include "harness.h"
#include "nvmove/repair.h"
#include "symbols/statics.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { HOOKS = 9, ENTRIES_MAX = 20 };

/* The places in the file of all entries of the first run. */
static unsigned find_entries(const NVM_POOL *pool, uint64_t *places) {
  uint64_t run = *nvmi_statics_first_link(pool);
  const struct nvm_static *entry;
  unsigned count = 0;
  for (uint64_t at = sizeof(struct nvm_statics_run);
       (entry = (const void *)(pool->home + run + at))->length && count < ENTRIES_MAX;
       at += entry->length)
    places[count++] = run + at;
  return count;
}

/* Also the last one, which a crash might have torn: nothing leads to that. */
TEST(statics_entry_that_is_damaged) {
  static const uint64_t behind[] = {offsetof(struct nvm_static, offset),
                                    offsetof(struct nvm_static, address),
                                    offsetof(struct nvm_static, twin), sizeof(struct nvm_static)};
  uint64_t places[ENTRIES_MAX];
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  bound_fill(pool, 0, HOOKS);
  unsigned count = find_entries(pool, places);
  CHECK(count > 3 && nvm_pool_close(pool) == 0);
  for (unsigned i = 0; i < 4 * count; i++) {
    test_flip(places[i / 4] + behind[i % 4], 16);
    CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
    test_flip(places[i / 4] + behind[i % 4], 16);
  }
  pool = test_open(test_path("pool"));
  bound_verify(pool, HOOKS);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The entry stays without what it said, and the others have their numbers: a pointer to what it named cannot be
 * bound, and the opening says so. */
TEST(statics_entry_that_is_repaired) {
  struct nvm_repair how = {0};
  uint64_t places[ENTRIES_MAX];
  for (unsigned i = 0; i < 2; i++) {
    unlink(test_path("pool"));
    NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
    bound_fill(pool, 0, HOOKS);
    unsigned count = find_entries(pool, places), damaged = i ? count - 1 : 1;
    CHECK(nvm_pool_close(pool) == 0);
    test_flip(places[damaged] + sizeof(struct nvm_static), 16);
    CHECK(nvm_pool_repair(test_path("pool"), &how) == 0);
    CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ESTATIC);
    CHECK(strstr(nvm_strerror(), "lost by damage"));
  }
}

/* How much of a run is durable is never 0: then the table would end where it is damaged. */
TEST(statics_run_whose_length_is_lost) {
  struct nvm_repair how = {0};
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  bound_fill(pool, 0, HOOKS);
  uint64_t run = *nvmi_statics_first_link(pool);
  uint64_t used = ((const struct nvm_statics_run *)(const void *)(pool->home + run))->used;
  CHECK(nvm_pool_close(pool) == 0);
  for (unsigned i = 0; i < sizeof used; i++)
    if ((uint8_t)(used >> 8 * i))
      test_flip(run + offsetof(struct nvm_statics_run, used) + i, (uint8_t)(used >> 8 * i));
  CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
  CHECK(nvm_pool_repair(test_path("pool"), &how) == 0);
  pool = test_open(test_path("pool"));
  bound_verify(pool, HOOKS);
  CHECK(nvm_pool_close(pool) == 0);
}
