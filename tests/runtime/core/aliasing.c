/* aliasing.c: the alias table by hand (core/alias.h), and what the methods lat and latb do beside values
 * (methods/lat.c, methods/latb.c).
 */
#define _GNU_SOURCE
#include "blocked.h"
#include "core/alias.h"
#include "core/pool.h"
#include "core/thread.h"
#include "harness.h"
#include "hooks.h"
#include "order/node.h"
#include "order/order_join.h"
#include "store.h"

#include "nvmove/wrap.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { LINES = 2000, APART = 8 /* words in a line */, LARGE = 1000 };
enum { FILLED = 512 /* lines: the first table is half full */, LONG = 10000 };

static NVM_POOL *pool;
static uint64_t *words;

static void make(const char *method) {
  setenv("NVMOVE_METHOD", method, 1);
  pool = test_create(test_path("pool"), 4 << 20);
  CHECK(nvm_wrap_open(pool) == 0);
  words = nvm_calloc(pool, 0, LINES * APART, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_wrap_close(pool) == 0);
}

static void begin(void) { CHECK(nvm_wrap_open(pool) == 0); }
static void commit(void) { CHECK(nvm_wrap_close(pool) == 0); }
static void undo(void) { CHECK(nvm_tx_abort(pool) == 0); }
static void finish(void) { CHECK(nvm_pool_close(pool) == 0); }

static void store_lines(unsigned count) {
  for (unsigned i = 0; i < count; i++)
    nvm_wrap_store64(&words[APART * i], i + 1);
}

static struct nvmi_log *own_log(void) { return nvmi_self->logs[pool->index]; }
static uint64_t line_of(const void *address) { return (uintptr_t)address / NVM_LINE_SIZE; }

/* Mappings that an opening leaves, with so many aliases in it. */
static long left_by(unsigned count) {
  long before = (long)hook_maps - (long)hook_unmapped;
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  begin();
  store_lines(count);
  undo();
  finish();
  return (long)hook_maps - (long)hook_unmapped - before;
}

/* A table that grows leaves no memory, and neither does the last. */
TEST_ONCE(aliasing_leaves_no_memory) {
  make("lat");
  finish();
  left_by(LINES); /* what the thread keeps */
  long few = left_by(0);
  CHECK(left_by(LINES) == few && left_by(1) == few);
}

static unsigned maps_blocked;
static void look_at_map(void) { maps_blocked += count_blocked() == SIGNALS; }

/* Signals wait while the table grows. */
TEST_ONCE(aliasing_grows_without_signals) {
  make("lat");
  begin();
  hook_map = look_at_map;
  store_lines(LINES); /* it grows once */
  hook_map = NULL;
  CHECK(maps_blocked == 1 && count_blocked() == 0);
  commit();
  finish();
}

/* Memory ends behind so many aliases. */
static void store_without_memory(void *with) {
  make("lat");
  CHECK_FAILS(nvm_tx_begin(NULL) == 0, NVM_EARGUMENT); /* a message has room from now on */
  begin();
  store_lines(*(unsigned *)with);
  fault_no_memory = true;
  store_lines(LINES);
}

/* Without memory for new values the process ends, and says so. */
TEST_ONCE(aliasing_needs_memory) {
  static struct {
    unsigned with;
    const char *what;
  } each[] = {{FILLED, "out of memory for the alias table"},
              {1, "out of memory for aliased bytes"}};
  for (unsigned i = 0; i < 2; i++) {
    char said[1000];
    int status = test_child_says(store_without_memory, &each[i].with, said, sizeof said);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(said, test_path("pool")) && strstr(said, each[i].what));
    CHECK(remove(test_path("pool")) == 0);
  }
}

/* A table that is closed finds nothing, and is not searched. To close an empty one uses up no stamp. */
TEST_ONCE(aliasing_begins_anew) {
  make("lat");
  begin();
  store_lines(1);
  struct nvmi_log *log = own_log();
  CHECK(nvmi_alias_may_have(&log->alias, line_of(words)) && nvmi_alias_find(log, line_of(words)));
  undo();
  CHECK(!nvmi_alias_may_have(&log->alias, line_of(words)) && !nvmi_alias_find(log, line_of(words)));
  uint32_t stamp = log->alias.stamp;
  nvmi_alias_close(log);
  CHECK(log->alias.stamp == stamp);
  finish();
}

/* Behind the last stamp comes the first, and no slot has one of before. */
TEST_ONCE(aliasing_uses_stamps_again) {
  make("lat");
  begin();
  store_lines(3);
  undo();
  struct nvmi_log *log = own_log();
  log->alias.stamp = UINT32_MAX;
  begin();
  store_lines(2);
  undo();
  CHECK(log->alias.stamp == 1 && log->alias.room > 0);
  for (size_t i = 0; i < log->alias.room; i++)
    CHECK(!log->alias.slots[i]);
  finish();
}

/* A store to bytes of a new block some of which are in place goes there with these: a plain store may come
 * behind it. */
TEST_ONCE(aliasing_beside_what_is_in_place) {
  const uint64_t pair[] = {2, 3};
  make("lat");
  begin();
  uint64_t *block = nvm_alloc(pool, 0, LARGE);
  CHECK(block);
  nvm_wrap_store64(block, 1);
  for (unsigned i = 0; i < NVMI_FRESH_MAX; i++) /* the block is remembered as new no more */
    CHECK(nvm_alloc(pool, 0, LARGE));
  nvm_wrap_write(block, pair, sizeof pair);
  CHECK(*(volatile uint64_t *)block == 2);
  CHECK(nvm_wrap_load64(block) == 2 && nvm_wrap_load64(block + 1) == 3);
  STORE(*block, 4);
  CHECK(nvm_wrap_load64(block) == 4 && nvm_wrap_load64(block + 1) == 3);
  nvm_wrap_store64(words, (uint64_t)(uintptr_t)block);
  commit();
  CHECK(block[0] == 4 && block[1] == 3);
  finish();
}

/* What joins comes before the thread's own aliases, and these are found behind it. */
TEST_ONCE(aliasing_behind_what_joins) {
  make("lat");
  begin();
  nvm_wrap_store64(words, 1);
  struct nvmi_log *log = own_log();
  struct nvmi_captured one = {
      .line = line_of(&words[APART]), .mask = 0xff, .sequence = 1, .bytes = {7}};
  struct nvmi_parcel parcel = {.pool = pool};
  CHECK(nvmi_array_push(&parcel.captured, &one, sizeof one));
  pool->method->unpack(log, &parcel);
  CHECK(log->alias.count == 1 && nvmi_alias_at(log, 0)->line == line_of(words));
  commit();
  CHECK(words[0] == 1 && words[APART] == 7);
  finish();
}

static unsigned steps_before, blocked_before;
/* Steps of a commit before its values are in place. */
static void look_at_step(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT || *(volatile uint64_t *)words)
    return;
  steps_before++;
  blocked_before = count_blocked();
}

/* A commit of lat can be killed before its record and behind it, one of latb between its entries and its
 * stores, where signals wait. */
TEST_ONCE(aliasing_commits_in_steps) {
  static const struct {
    const char *method;
    unsigned steps, blocked;
  } each[] = {{"lat", 2, 0}, {"latb", 1, SIGNALS}};
  for (unsigned i = 0; i < 2; i++) {
    make(each[i].method);
    begin();
    store_lines(1);
    steps_before = blocked_before = 0;
    hook_steps(look_at_step);
    commit();
    hook_steps(NULL);
    CHECK(steps_before == each[i].steps && blocked_before == each[i].blocked);
    CHECK(count_blocked() == 0);
    finish();
    CHECK(remove(test_path("pool")) == 0);
  }
}

static struct nvm_stats stats(void) {
  struct nvm_stats now;
  nvm_pool_stats(pool, &now);
  return now;
}

/* Bytes that have an alias need no second entry. */
TEST_ONCE(aliasing_copies_old_bytes_once) {
  make("latb");
  begin();
  uint64_t before = stats().log_entries;
  store_lines(1);
  CHECK(stats().log_entries == before + 1);
  store_lines(1);
  CHECK(stats().log_entries == before + 1);
  nvm_wrap_store64((char *)words + 4, 5);
  CHECK(stats().log_entries == before + 2);
  undo();
  CHECK(words[0] == 0);
  finish();
}

static uint64_t flushed_with(unsigned blocks) {
  uint64_t before = stats().flushed_lines;
  begin();
  for (unsigned i = 0; i < blocks; i++) {
    uint64_t *block = nvm_alloc(pool, 0, NVM_LINE_SIZE);
    CHECK(block);
    nvm_wrap_store64(block, 1);
  }
  commit();
  return stats().flushed_lines - before;
}

/* Lines of new blocks, which are in place, are flushed with a short record, and counted. */
TEST_ONCE(aliasing_counts_flushed_lines) {
  make("lat");
  flushed_with(1);
  uint64_t few = flushed_with(1);
  CHECK(flushed_with(4) == few + 3);
  finish();
}

/* A transaction that leaves nothing needs no record. */
TEST_ONCE(aliasing_records_nothing) {
  make("lat");
  uint64_t before = stats().log_entries;
  begin();
  CHECK(nvm_free(nvm_alloc(pool, 0, NVM_LINE_SIZE)) == 0);
  commit();
  CHECK(stats().log_entries == before);
  finish();
}

/* A record that is longer than a frame is of several. */
TEST_ONCE(aliasing_long_records) {
  static char bytes[LONG];
  make("lat");
  memset(bytes, 'x', sizeof bytes);
  uint64_t before = stats().log_entries;
  begin();
  nvm_wrap_write(words, bytes, sizeof bytes);
  commit();
  CHECK(stats().log_entries == before + 2 && memcmp(words, bytes, sizeof bytes) == 0);
  finish();
}

/* Where the log has no room for a frame, and may not switch, it becomes longer. */
TEST_ONCE(aliasing_without_room_for_a_frame) {
  make("lat");
  begin();
  store_lines(1);
  struct nvmi_log *log = own_log();
  log->last = 0; /* as if no record of this bank had fit */
  log->bank_tells = false;
  log->cursor->at = log->cursor->segment->size;
  commit();
  CHECK(words[0] == 1);
  finish();
}
