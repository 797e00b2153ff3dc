/* again.c: a long range that the transaction has noted is not noted again, nor what of another it
 * covers; what is new is, byte for byte.
 */
#include "core/thread.h"
#include "harness.h"
#include "store.h"

enum { SIZE = 128 << 10, LONG = 64 << 10, TIMES = 50 };

static NVM_POOL *pool;
static char *bytes;

static void fill(size_t from, size_t size, char value) {
  __nvm_note(bytes + from, size);
  memset(bytes + from, value, size);
}

static void check_all(char value) {
  for (size_t i = 0; i < SIZE; i++)
    CHECK(bytes[i] == value);
}

/* Overlapping at the start, at the end, inside, around; and apart. */
static void fill_all_ways(char value) {
  static const size_t ways[][2] = {
      {8000, LONG},        {8000, LONG},  {7990, 20}, {7001, 2000}, {8000 + LONG, 1},
      {9000 + LONG, 3000}, {LONG, 20000}, {0, SIZE},  {100, LONG},  {SIZE - 1111, 1111}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    fill(ways[i][0], ways[i][1], (char)(value + (char)i));
  fill(0, SIZE, value);
}

static uint64_t log_bytes(void) {
  struct nvm_stats stats;
  CHECK(nvm_pool_stats(pool, &stats) == 0);
  return stats.log_bytes;
}

static void repeat(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  fill(100, LONG + 9, 3);
  uint64_t logged = log_bytes();
  size_t lines = nvmi_self->lines.count;
  for (int i = 0; i < TIMES; i++)
    fill(100 + (size_t)i % 9, LONG, 4);
  CHECK(log_bytes() == logged && nvmi_self->lines.count == lines);
  CHECK(nvm_tx_abort(pool) == 0);
}

TEST(noted_again) {
  pool = test_create(test_path("pool"), 8 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  bytes = nvm_calloc(pool, 0, 1, SIZE);
  CHECK(bytes && nvm_pool_set_root(pool, bytes) == 0 && nvm_tx_commit(pool) == 0);
  repeat();
  check_all(0);
  for (char value = 1; value < 4; value++) {
    CHECK(nvm_tx_begin(pool) == 0);
    fill_all_ways(50);
    CHECK(nvm_tx_abort(pool) == 0);
    check_all((char)(value - 1));
    CHECK(nvm_tx_begin(pool) == 0);
    fill_all_ways(value);
    CHECK(nvm_tx_commit(pool) == 0);
    check_all(value);
  }
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  bytes = nvm_pool_root(pool);
  check_all(3);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}
