/* fenced.c: what a pool's functions of persistence are asked for, and in which order (platform/persist.h):
 * where a simulated power failure seldom meets the one moment, or never.
 */
#include "handing.h"
#include "heap/heap_types.h"
#include "hooks.h"
#include "log/log.h"
#include "log/record.h"
#include "order/order.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { LARGE = 8 << 20, BLOCK = 8192, MUCH = 40000, LINE_WORDS = 8 };

static const struct nvmi_persist *real;
static struct nvmi_persist watched;
static uintptr_t place; /* that is to be flushed, then fenced */
static bool flushed, was_fenced, came_early, appended;
static unsigned fences;

static void flush(const void *address, size_t size) {
  if (place - (uintptr_t)address < size) {
    flushed = true;
    was_fenced = false;
  }
  real->flush(address, size);
}

static void fence(void) {
  was_fenced |= flushed;
  appended = false;
  fences++;
  real->fence();
}

/* To a header, which speaks of the place. */
static void stream(void *to, const void *from, size_t size) {
  uint64_t offset = (uint64_t)((char *)to - all.pool->home);
  came_early |= offset < 2 * NVM_HEADER_COPY_SIZE && flushed && !was_fenced;
  real->stream(to, from, size);
}

/* To a log; not fenced yet. */
static void append(void *to, const void *from, size_t size) {
  appended = true;
  real->append(to, from, size);
}

static void watch(const void *at) {
  real = all.pool->persist;
  watched = *real;
  watched.flush = flush;
  watched.fence = fence;
  watched.stream = stream;
  watched.append = append;
  place = (uintptr_t)at;
  all.pool->persist = &watched;
}

static void look_away(void) { all.pool->persist = real; }

static bool is_undo(void) { return strcmp(getenv("NVMOVE_METHOD"), "undo") == 0; }

/* Words of chunks that growth adds are zero, and durable, before a header speaks of them. */
TEST(fenced_words_before_a_longer_heap) {
  prepare();
  uint64_t before = all.pool->header.heap_size;
  watch(nvmi_chunk_word(all.pool, (uint32_t)(before >> NVM_CHUNK_SHIFT)));
  begin();
  CHECK(nvm_alloc(all.pool, 0, LARGE) && all.pool->header.heap_size > before);
  look_away();
  CHECK(flushed && was_fenced && !came_early);
  commit();
  finish();
}

static void *follow(void *unused) {
  wait_for(1);
  begin();
  store(0, 0, 2);
  all.step = 2;
  wait_for(3);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* What an abort takes back beside a follower is durable before it says so. */
TEST(fenced_bytes_beside_a_follower) {
  prepare();
  pthread_t other = start(follow, NULL);
  begin();
  STORE(all.words[GAP], 1);
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  watch(&all.words[GAP]);
  CHECK(nvm_tx_abort(all.pool) == 0);
  look_away();
  CHECK(all.words[GAP] == 0 && all.words[0] == 2);
  CHECK((flushed && was_fenced) || !is_undo());
  all.step = 3;
  CHECK(pthread_join(other, NULL) == 0);
  finish();
}

/* An abort's bytes, then that it is over: later another thread may own the bytes. */
TEST(fenced_end_of_an_abort) {
  prepare();
  begin();
  STORE(all.words[0], 1);
  watch(NULL);
  CHECK(nvm_tx_abort(all.pool) == 0);
  look_away();
  CHECK(fences == 2 || !is_undo());
  finish();
}

static void *store_and_end(void *unused) {
  begin();
  STORE(all.words[0], 1);
  commit();
  all.step = 1;
  wait_for(2);
  fences = 0;
  return unused;
}

/* What a thread has stored in place is durable by its end: the next owner of its log fences for another
 * processor. */
TEST(fenced_end_of_a_thread) {
  prepare();
  pthread_t other = start(store_and_end, NULL);
  wait_for(1);
  watch(NULL);
  all.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  look_away();
  CHECK(fences == 1);
  finish();
}

static void *take_a_log(void *unused) {
  begin();
  STORE(all.words[GAP], 1);
  commit();
  all.step = 1;
  wait_for(2);
  return unused;
}

/* Among several logs a commit returns when its record and what it says are in place, and no record up to
 * its own is replayed any more. */
TEST(fenced_commits_of_several_logs) {
  prepare();
  pthread_t other = start(take_a_log, NULL);
  wait_for(1);
  begin();
  CHECK(nvm_alloc(all.pool, 0, 64));
  store(0, 0, 2); /* with shadow a longer record has it */
  watch(NULL);
  commit();
  look_away();
  const struct nvmi_log *log = nvmi_self->logs[all.pool->index];
  unsigned behind =
      test_is_on_disk(all.pool) + test_is_delayed(); /* is put behind; does not wait */
  CHECK(fences == (is_undo() ? 3 : 2 - behind) && log->pending == 0);
  all.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  finish();
}

/* No record, but the next one may go where the one before stands. */
TEST(fenced_record_that_is_none) {
  prepare();
  begin();
  STORE(all.words[0], 1);
  commit();
  struct nvmi_log *log = nvmi_self->logs[all.pool->index];
  watch(NULL);
  nvmi_solo_enter(log);
  log->pending = 2 << 1;
  nvmi_record_void(log);
  look_away();
  CHECK(fences == 1 && log->pending == 0 && log->solo == 0);
  finish();
}

/* The pool and its file cannot grow. */
static void fill(void) {
  struct stat file;
  CHECK(stat(test_path("pool"), &file) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  struct rlimit limit = {(rlim_t)file.st_size, (rlim_t)file.st_size};
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (size_t size = 60000; size >= 16; size /= 2)
    for (void *block = &all; block;) {
      begin();
      block = nvm_alloc(all.pool, 0, size);
      commit();
    }
}

/* The empty record in place of one that did not fit is durable before the next one begins. */
TEST(fenced_record_in_place_of_another) {
  prepare();
  begin();
  uint64_t *words = nvm_calloc(all.pool, 0, MUCH, sizeof *words);
  CHECK(words);
  commit();
  fill();
  begin();
  for (unsigned i = 0; i < MUCH && !is_undo(); i += LINE_WORDS)
    STORE(words[i], 1);
  watch(NULL);
  if (is_undo())
    commit();
  else
    CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_ENOSPACE);
  look_away();
  CHECK(!appended && (fences || is_undo()));
  finish();
}

/* The number of the commit that freed a block is known: below it no record may be replayed before the
 * block's memory is another's. */
TEST(fenced_blocks_know_who_freed_them) {
  prepare();
  begin();
  void *block = nvm_alloc(all.pool, 0, BLOCK);
  commit();
  uint32_t index;
  uint64_t inside, offset = (uint64_t)(uintptr_t)block - all.pool->header.base;
  const struct nvmi_span *span = nvmi_block_at(all.pool, offset, &index, &inside);
  CHECK(span);
  begin();
  CHECK(nvm_free(block) == 0);
  uint64_t before = all.pool->order;
  commit();
  CHECK(span->freed_order >= before);
  finish();
}

/* What goes directly to a new block is not overwritten by records of what was there before. */
TEST(fenced_bytes_that_go_directly) {
  prepare();
  begin();
  char *block = nvm_alloc(all.pool, 0, BLOCK);
  note_store(block, BLOCK);
  memset(block, 1, BLOCK);
  uint64_t before = all.pool->order;
  commit();
  CHECK(is_undo() || test_is_on_disk(all.pool) || all.pool->bound >= before);
  finish();
}

static bool is_in_section;
static unsigned yields;

/* The first thread is in a section that it has entered as the only one. */
static void enter_section(void) {
  if (all.pool->several_logs && !is_in_section) {
    is_in_section = true;
    all.pool->logs[0]->solo = 1;
  }
}

static void leave_section(void) {
  yields += all.pool->logs[0]->solo;
  all.pool->logs[0]->solo = 0;
}

static void *store_first(void *unused) {
  hook_barrier = enter_section;
  hook_yield = leave_section;
  begin();
  STORE(all.words[GAP], 1);
  hook_barrier = hook_yield = NULL;
  commit();
  return unused;
}

/* Who makes a pool's second log waits for the first one's section, which may have begun until all know of
 * the second. */
TEST(fenced_second_log) {
  prepare();
  CHECK(pthread_join(start(store_first, NULL), NULL) == 0);
  CHECK(is_in_section && yields == 1);
  finish();
}
