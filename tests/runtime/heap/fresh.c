/* fresh.c: long stores to blocks that the transaction itself allocated count for whole lines, and
 * for no other block's bytes.
 */
#include "harness.h"
#include "nvmove/inspect.h"
#include "store.h"

#include <string.h>

enum { LINE = NVM_LINE_SIZE, HEADER = 5, TEXT = 1024, ROOM = 1088, ODD = 352 };

struct cost {
  uint64_t bytes, lines;
};

static struct cost cost_of(NVM_POOL *pool) {
  struct nvm_stats stats;
  CHECK(nvm_pool_stats(pool, &stats) == 0);
  return (struct cost){stats.log_bytes, stats.flushed_lines};
}

static char *new_block(NVM_POOL *pool, size_t size) {
  CHECK(nvm_tx_begin(pool) == 0);
  char *block = nvm_alloc(pool, 0, size);
  CHECK(block != NULL);
  return block;
}

/* As compiled code asks, of what a call returned. */
static bool is_noted_whole(const char *start, const char *end) {
  return (uintptr_t)start >= __nvm_lines->fresh_start && (uintptr_t)end <= __nvm_lines->fresh_end;
}

/* A string with its length before it and its terminator behind it costs what its lines cost. */
TEST(a_new_string_is_whole_lines) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  char *block = new_block(pool, ROOM);
  CHECK((uintptr_t)block % LINE == 0 && nvm_usable_size(block) >= ROOM);
  struct cost before = cost_of(pool);
  __nvm_note(block, ROOM);
  memset(block, 'w', ROOM);
  CHECK(nvm_pool_set_root(pool, block) == 0 && nvm_tx_commit(pool) == 0);
  struct cost whole = cost_of(pool);
  char *string = new_block(pool, HEADER + TEXT + 1);
  CHECK(!is_noted_whole(string, string + HEADER));
  note_store(string, HEADER);
  memset(string, 'h', HEADER);
  __nvm_note(string + HEADER, TEXT);
  memset(string + HEADER, 't', TEXT);
  CHECK(is_noted_whole(string, string + HEADER + TEXT + 1));
  CHECK(!is_noted_whole(string, string + ROOM + 1));
  string[HEADER + TEXT] = 0;
  CHECK(nvm_pool_set_root(pool, string) == 0 && nvm_tx_commit(pool) == 0);
  struct cost after = cost_of(pool);
  CHECK(after.bytes - whole.bytes == whole.bytes - before.bytes);
  CHECK(after.lines - whole.lines == whole.lines - before.lines);
  CHECK(!is_noted_whole(string, string + 1));
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  string = nvm_pool_root(pool);
  CHECK(string[0] == 'h' && string[HEADER - 1] == 'h' && string[HEADER] == 't');
  CHECK(string[HEADER + TEXT - 1] == 't' && !string[HEADER + TEXT] && nvm_pool_close(pool) == 0);
}

/* Where its block begins or ends within a line, the neighbour's bytes there are not written. */
TEST_ONCE(a_neighbour_keeps_its_bytes) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  char *low = new_block(pool, ODD), *middle = nvm_alloc(pool, 0, ODD),
       *high = nvm_alloc(pool, 0, ODD);
  CHECK(middle == low + ODD && high == middle + ODD && nvm_usable_size(middle) == ODD);
  CHECK((uintptr_t)middle % LINE || (uintptr_t)high % LINE);
  low[ODD - 1] = 'l'; /* not noted: another transaction's would not be in this list either */
  high[0] = 'h';
  __nvm_note(middle, ODD);
  memset(middle, 'm', ODD);
  CHECK(nvm_pool_set_root(pool, middle) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  middle = nvm_pool_root(pool);
  for (unsigned i = 0; i < ODD; i++)
    CHECK(middle[i] == 'm');
  CHECK(middle[-1] != 'l' && middle[ODD] != 'h' && nvm_pool_close(pool) == 0);
}

enum { APART = NVM_LINE_SLOTS * LINE }; /* lines so far apart share a slot of the table */

static void push_out(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_create(test_path("pool"), 4 << 20);
  char *array = new_block(pool, 4 * APART);
  CHECK(nvm_pool_set_root(pool, array) == 0 && nvm_tx_commit(pool) == 0);
  char *string = new_block(pool, HEADER + TEXT);
  note_store(string, HEADER);
  memset(string, 'h', HEADER);
  __nvm_note(string + HEADER, TEXT);
  memset(string + HEADER, 't', TEXT);
  char *other = array + ((uintptr_t)string - (uintptr_t)array) % APART;
  note_store(other, 1);
  *other = 'o';
  store_bytes(array + 2 * APART, &string, sizeof string);
  CHECK(nvm_tx_commit(pool) == 0);
}

/* The header's line is given up, and leaves the table as nothing: the record can be replayed. */
TEST(a_line_that_was_given_up_leaves_the_table) {
  CHECK(test_child(NULL, push_out, NULL) == 0);
  NVM_POOL *pool = test_open(test_path("pool"));
  char *array = nvm_pool_root(pool), *string;
  memcpy(&string, array + 2 * APART, sizeof string);
  CHECK(string[0] == 'h' && string[HEADER] == 't' && string[HEADER + TEXT - 1] == 't');
  CHECK(array[((uintptr_t)string - (uintptr_t)array) % APART] == 'o');
  CHECK(nvm_pool_close(pool) == 0);
}

/* A bound that is larger than its block: its neighbour is not noted, neither where the compiler
 * knows the format nor where the run does. */
TEST(a_bound_ends_with_the_block) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  char *low = new_block(pool, ODD), *high = nvm_alloc(pool, 0, ODD);
  CHECK(high == low + ODD && nvm_pool_set_root(pool, low) == 0 && nvm_tx_commit(pool) == 0);
  for (int walks = 0; walks < 2; walks++) {
    CHECK(nvm_tx_begin(pool) == 0);
    high[walks] = 'h'; /* another thread's, say: an abort must leave it alone */
    if (walks)
      __nvm_note_scanf("%s", 1, 2 * ODD, low + 10);
    else
      __nvm_note_call(low + 10, 2 * ODD);
    memset(low + 10, 'l', ODD - 10);
    CHECK(nvm_tx_abort(pool) == 0);
    CHECK(low[10] != 'l' && low[ODD - 1] != 'l' && high[walks] == 'h');
  }
  __nvm_note_call(&pool, sizeof pool);
  CHECK(nvm_pool_close(pool) == 0);
}
