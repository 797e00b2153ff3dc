/* persisted.c: which bytes are flushed, and which fence comes before what, as a pool's functions of
 * persistence are asked for it: at creation and recovery, of counts, statics, and logs.
 */
#include "bound.h"
#include "gc/changes.h"
#include "gc/counts.h"
#include "handing.h"
#include "heap/heap_chunks.h"
#include "heap/heap_types.h"
#include "log/log.h"
#include "pool/close_logs.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

enum { EVENTS_MAX = 1 << 14, BLOCKS = 10, BLOCK = 256 << 10, LINE = 64, FEW = 8 };

/* A flush or stream of so many bytes; of none: a fence. */
static struct event {
  uintptr_t at;
  size_t size;
  bool streams;
} events[EVENTS_MAX];
static unsigned count;

static const struct nvmi_persist *real;
static struct nvmi_persist watched;

static void add(const void *at, size_t size, bool streams) {
  CHECK(count < EVENTS_MAX);
  events[count++] = (struct event){(uintptr_t)at, size, streams};
}

static void flush(const void *address, size_t size) {
  real->flush(address, size);
  if (size)
    add(address, size, false);
}

static void stream(void *to, const void *from, size_t size) {
  real->stream(to, from, size);
  add(to, size, true);
}

static void append(void *to, const void *from, size_t size) {
  real->append(to, from, size);
  add(to, size, true);
}

static void store_line(void *to, const void *from, uint64_t mask) {
  real->store_line(to, from, mask);
  add(to, LINE, true);
}

static void fence(void) {
  real->fence();
  add(NULL, 0, false);
}

static void watch(const struct nvmi_persist *of) {
  real = of;
  watched = *real;
  watched.flush = flush;
  watched.stream = stream;
  watched.append = append;
  watched.store_line = store_line;
  watched.fence = fence;
  count = 0;
}

static void watch_pool(NVM_POOL *pool) {
  watch(pool->persist);
  pool->persist = &watched;
}

/* Pools that are made and opened from now on. */
static void watch_openings(const char *method) {
  setenv("NVMOVE_DOMAIN", "power", 1);
  setenv("NVMOVE_METHOD", method, 1);
  watch(nvmi_persist_process());
  nvmi_persist_override = &watched;
}

/* The first event from `from` on that touches a range, or how many there are. */
static unsigned touch(unsigned from, const void *at, size_t size) {
  for (unsigned i = from; i < count; i++)
    if (events[i].at < (uintptr_t)at + size && (uintptr_t)at < events[i].at + events[i].size)
      return i;
  return count;
}

static bool has_fence(unsigned from, unsigned to) {
  for (unsigned i = from; i < to; i++)
    if (!events[i].size)
      return true;
  return false;
}

/* All that was flushed there from the event `first` to the event `end` is fenced before that one. */
static bool is_fenced_in(const void *at, size_t size, unsigned first, unsigned end) {
  unsigned last = first;
  for (unsigned i = first; i < end; i = touch(i + 1, at, size))
    last = i;
  return first < count && end < count && has_fence(last, end);
}

static bool comes_before(const void *at, size_t size, const void *then, size_t then_size) {
  unsigned first = touch(0, at, size);
  return is_fenced_in(at, size, first, touch(first, then, then_size));
}

/* The header is written anew only then: that is streamed. */
static bool comes_before_header(const NVM_POOL *pool, const void *at, size_t size) {
  unsigned first = touch(0, at, size), end = first;
  do
    end = touch(end + 1, pool->home, 2 * NVM_HEADER_COPY_SIZE);
  while (end < count && !events[end].streams);
  return is_fenced_in(at, size, first, end);
}

static bool is_durable(const void *at, size_t size) {
  unsigned last = count;
  for (unsigned i = touch(0, at, size); i < count; i = touch(i + 1, at, size))
    last = i;
  return last < count && has_fence(last, count);
}

/* Nothing else comes between the last flush there and its fence. */
static bool is_fenced_at_once(const void *at, size_t size) {
  unsigned last = count;
  for (unsigned i = touch(0, at, size); i < count; i = touch(i + 1, at, size))
    last = i;
  return last + 1 < count && !events[last + 1].size;
}

static bool is_waiting(void) { return count && events[count - 1].size; }

TEST_ONCE(persisted_root_of_a_new_pool) {
  watch_openings("undo");
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(is_durable(pool->home + NVM_ROOT_OFFSET, sizeof(struct nvm_root_words)));
  CHECK(nvm_pool_close(pool) == 0);
}

static void commit_and_die(void *unused) {
  (void)unused;
  prepare();
  begin();
  STORE(all.words[GAP], 7);
  commit();
  raise(SIGKILL);
}

static const struct nvm_log_slot *first_slot(NVM_POOL *pool) {
  return (const void *)(pool->home + NVM_SLOTS_OFFSET);
}

/* What the dead process did not fence, and what recovery does, is durable before the header moves on; of
 * what a record says nothing is stored before the record is durable. */
static void recover(const char *method) {
  watch_openings(method);
  nvmi_persist_override = NULL;
  CHECK(test_was_killed(test_child(NULL, commit_and_die, NULL)));
  watch_openings(method);
  NVM_POOL *pool = test_open(test_path("pool"));
  const uint64_t *words = nvm_pool_root(pool);
  const char *word = pool->home + ((const char *)&words[GAP] - pool->work);
  CHECK(words[GAP] == 7);
  CHECK(comes_before_header(pool, first_slot(pool), sizeof *first_slot(pool)));
  CHECK(comes_before_header(pool, word, sizeof *words));
  for (unsigned bank = 0; bank < 2; bank++) {
    const char *frame = pool->home + first_slot(pool)->bank[bank] + sizeof(struct nvm_segment);
    if (!*(const uint64_t *)(const void *)frame)
      continue;
    CHECK(comes_before_header(pool, frame, LINE));
    CHECK(comes_before(frame, LINE, word, sizeof *words) || strcmp(method, "undo") == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(persisted_by_recovery_of_undo) { recover("undo"); }

TEST_ONCE(persisted_by_recovery_of_shadow) { recover("shadow"); }

/* The header of a log's segment says what it is by its checksum. */
TEST(persisted_segment_with_another_checksum) {
  uint64_t check;
  CHECK(test_was_killed(test_child(NULL, commit_and_die, NULL)));
  int fd = open(test_path("pool"), O_RDWR);
  struct nvm_log_slot slot;
  CHECK(pread(fd, &slot, sizeof slot, NVM_SLOTS_OFFSET) == sizeof slot);
  CHECK(pread(fd, &check, sizeof check, (off_t)slot.bank[0]) == sizeof check);
  check ^= 1;
  CHECK(pwrite(fd, &check, sizeof check, (off_t)slot.bank[0]) == sizeof check && close(fd) == 0);
  CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
}

/* The barrier in all threads says nothing of the thread that makes it. */
TEST(persisted_before_stores_are_not_noted) {
  prepare();
  watch_pool(all.pool);
  nvmi_pool_stores_unnoted(all.pool);
  CHECK(count == 1 && !events[0].size);
  nvmi_pool_stores_unnoted(all.pool);
  CHECK(count == 1);
  all.pool->persist = real;
  finish();
}

static void *commit_alone(void *unused) {
  begin();
  STORE(all.words[0], 1);
  commit();
  all.step = 1;
  wait_for(2);
  return unused;
}

/* Who closes a pool takes the log of another thread, whose last commit did not wait for its stores in place. */
TEST(persisted_for_another_thread) {
  prepare();
  reopen();
  pthread_t other = start(commit_alone, NULL);
  wait_for(1);
  watch_pool(all.pool);
  CHECK(nvmi_logs_take(all.pool) == 0 && count && !is_waiting());
  all.pool->persist = real;
  all.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  finish();
}

/* Most of the heap had another use: what is made of it is not zero. */
static void use_much(void) {
  char *blocks[BLOCKS];
  begin();
  for (unsigned i = 0; i < BLOCKS; i++) {
    CHECK((blocks[i] = nvm_alloc(all.pool, 0, BLOCK)));
    note_store(blocks[i], BLOCK);
    memset(blocks[i], 0xff, BLOCK);
  }
  commit();
  begin();
  for (unsigned i = 0; i < BLOCKS; i++)
    CHECK(nvm_free(blocks[i]) == 0);
  commit();
}

/* Of a free run that is made two both words are there before the heap ends between them. */
TEST(persisted_before_a_shorter_heap) {
  prepare();
  use_much();
  reopen();
  const char *words = (const char *)nvmi_chunk_word(all.pool, 0);
  size_t size = sizeof(uint64_t) * (all.pool->header.heap_size >> NVM_CHUNK_SHIFT);
  watch_pool(all.pool);
  CHECK(nvm_pool_resize(all.pool, 1 << 20) == 0);
  CHECK(touch(touch(0, words, size) + 1, words, size) < count);
  CHECK(comes_before_header(all.pool, words, size));
  all.pool->persist = real;
  finish();
}

/* The first place of the heap whose weak references have no table yet. */
static uint64_t place_without_table(void) {
  uint64_t to = all.pool->header.heap_offset | NVM_REFERENCE_WEAK;
  while (all.pool->counts->directory[nvmi_counts_table(to)])
    to += NVM_COUNTS_STRETCH;
  CHECK(to < all.pool->header.heap_offset + all.pool->header.heap_size);
  return to;
}

/* A table of counts is zero before the directory names it. */
TEST_ONCE(persisted_table_of_counts) {
  setenv("NVMOVE_METHOD", "shadow", 1); /* where the chunks that were freed are taken next */
  prepare();
  CHECK(nvm_pool_count_references(all.pool) == 0);
  use_much();
  uint64_t to = place_without_table();
  watch_pool(all.pool);
  CHECK(nvmi_counts_cover(all.pool->counts, to));
  const uint64_t *word = &all.pool->counts->directory[nvmi_counts_table(to)];
  CHECK(comes_before(all.pool->home + *word, NVM_COUNTS_TABLE, word, sizeof *word));
  all.pool->persist = real;
  finish();
}

/* Who set a word of the directory may have died before its fence. */
TEST_ONCE(persisted_directory_of_counts) {
  prepare();
  CHECK(nvm_pool_count_references(all.pool) == 0);
  uint64_t to = place_without_table();
  CHECK(nvmi_counts_cover(all.pool->counts, to) && nvm_pool_close(all.pool) == 0);
  watch_openings("undo");
  NVM_POOL *pool = test_open(test_path("pool"));
  const uint64_t *word = &pool->counts->directory[nvmi_counts_table(to)];
  CHECK(*word && is_durable(word, sizeof *word));
  CHECK(nvm_pool_close(pool) == 0);
}

/* What a failed commit changes is not counted, before the log says that its transaction has ended. */
TEST(persisted_counts_of_a_commit_that_fails) {
  prepare();
  CHECK(nvm_pool_count_references(all.pool) == 0);
  struct nvmi_log *log = nvmi_self->logs[all.pool->index];
  nvmi_count_scratch(log)->activation = all.pool->counts->end + 1;
  watch_pool(all.pool);
  nvmi_counts_follower.ended(log, false);
  CHECK(count == 2 && events[0].size && !events[1].size);
  all.pool->persist = real;
  finish();
}

static void link_and_die(void *from) {
  NVM_POOL *pool = test_open(test_path("pool"));
  unsigned nodes = *(const unsigned *)from;
  bound_fill(pool, nodes, nodes + FEW);
  raise(SIGKILL);
}

static void open_and_die(void *unused) {
  (void)unused;
  test_open(test_path("pool"));
  raise(SIGKILL);
}

/* What was not counted yet is counted by the opening: its records are of no generation any more. */
TEST(persisted_counts_of_the_dead) {
  unsigned nodes = FEW;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  bound_fill(pool, 0, nodes);
  CHECK(nvm_pool_count_references(pool) == 0 && nvm_pool_close(pool) == 0);
  CHECK(test_was_killed(test_child(NULL, link_and_die, &nodes)));
  CHECK(test_was_killed(test_child(NULL, open_and_die, NULL)));
  pool = test_open(test_path("pool"));
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"counted") == 0);
  bound_verify(pool, 2 * FEW);
  CHECK(nvm_pool_close(pool) == 0);
}

/* What is said of pointers to the program is durable before anything relies on it, each for itself: other
 * threads do not write it again. */
TEST(persisted_statics) {
  uint32_t index;
  uint64_t inside;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  watch_pool(pool);
  bound_fill(pool, 0, 2);
  const char *link = pool->home + NVM_STATICS_OFFSET;
  const char *run = pool->home + *(const uint64_t *)(const void *)link;
  const struct nvmi_span *span =
      nvmi_block_at(pool, (uint64_t)((char *)nvm_pool_root(pool) - pool->work), &index, &inside);
  CHECK(run != pool->home && span);
  CHECK(comes_before(run, NVM_CHUNK_SIZE, link, sizeof(uint64_t)));
  CHECK(is_fenced_at_once(run + sizeof(struct nvm_statics_run), LINE));
  CHECK(is_fenced_at_once(nvmi_chunk_word(pool, span->chunk), sizeof(uint64_t)));
  pool->persist = real;
  CHECK(nvm_pool_close(pool) == 0);
}
