/* log_read.c: where logs end, of frames and segments that were made by hand (log/log_end.c). */
#include "log/log_read.h"
#include "base/basics.h"
#include "harness.h"
#include "heap/heap.h"
#include "heap/heap_types.h"
#include "log/log.h"
#include "log/log_end.h"
#include "store.h"

#include <string.h>
#include <unistd.h>

enum { FRAMES = 4, FAR_SLOT = 0x7fffffff };

/* A bank whose first frame lies where a bank's does. */
static struct bank {
  struct nvm_segment segment;
  struct nvm_frame frames[FRAMES];
} bank;

/* A record with this number, of one frame; one that is torn lacks two others. */
static struct nvm_frame record(uint64_t number, bool torn) {
  return (struct nvm_frame){.transaction = number << 16 | (torn ? 2 : 0),
                            .order = number,
                            .shape = NVM_FRAME_SHAPE(NVM_FRAME_COMMIT, 0, 0)};
}

/* Records with these numbers, up to a 0. */
static struct nvmi_records_end end_of(const uint64_t *numbers, bool torn, bool from_start) {
  struct nvmi_array found = {0};
  for (unsigned i = 0; numbers[i]; i++) {
    const struct nvm_frame *frame = &bank.frames[i + !from_start];
    bank.frames[i + !from_start] = record(numbers[i], torn && !numbers[i + 1]);
    CHECK(nvmi_array_push(&found, &frame, sizeof frame));
  }
  struct nvmi_records_end end = nvmi_records_end(&found, &bank.segment);
  nvmi_array_free(&found, sizeof(void *));
  return end;
}

TEST_ONCE(log_records_without_a_gap) {
  const uint64_t all[] = {5, 6, 7, 0}, gap[] = {5, 7, 0}, last[] = {7, 0};
  struct nvmi_records_end end = end_of(all, false, true);
  CHECK(end.complete && end.whole && end.newest == 7 && !end.alone && !end.only);
  end = end_of(all, true, true);
  CHECK(end.complete && !end.whole && !end.alone);
  CHECK(!end_of(gap, false, true).complete);
  CHECK(!end_of(all, false, false).complete); /* the bank's start is lost */
  end = end_of(gap, true, true);
  CHECK(end.complete && end.alone && !end.only);
  end = end_of(last, true, false);
  CHECK(end.complete && end.alone && end.only);
  CHECK(!end_of(last, false, false).complete);
}

/* One of several frames is whole with all of them, and their number behind. */
TEST_ONCE(log_record_of_several_frames) {
  struct nvmi_array found = {0};
  for (unsigned i = 0; i < 3; i++) {
    const struct nvm_frame *frame = &bank.frames[i];
    bank.frames[i] = record(9, true);
    if (i < 2)
      bank.frames[i].shape = NVM_FRAME_SHAPE(NVM_FRAME_REDO, 0, 0);
    CHECK(nvmi_array_push(&found, &frame, sizeof frame));
  }
  struct nvmi_records_end end = nvmi_records_end(&found, &bank.segment);
  CHECK(end.whole && end.complete && end.newest == 9);
  nvmi_array_free(&found, sizeof(void *));
}

/* So many entries, the last ones not known to be durable, and behind them a record of the commit that knows
 * of so many. */
static bool are_complete(unsigned entries, unsigned known) {
  struct nvmi_array found = {0};
  for (unsigned i = 0; i <= entries; i++) {
    const struct nvm_frame *frame = &bank.frames[i];
    bool last = i == entries;
    bank.frames[i] = (struct nvm_frame){
        .transaction = UINT64_C(3) << 16 | (last ? known : 0),
        .order = i + 1,
        .shape = NVM_FRAME_SHAPE(last ? NVM_FRAME_COMMIT_CHECKED : NVM_FRAME_UNDO, 0, 8)};
    CHECK(nvmi_array_push(&found, &frame, sizeof frame));
  }
  bool complete = nvmi_entries_complete(&found);
  nvmi_array_free(&found, sizeof(void *));
  return complete;
}

/* The record of a commit stands behind all entries of its transaction. */
TEST_ONCE(log_entries_that_a_commit_knows_of) {
  CHECK(are_complete(3, 3) && are_complete(0, 0));
  CHECK(!are_complete(2, 3) && !are_complete(0, 1));
}

static NVM_POOL *make_pool(void) {
  NVM_POOL *pool = test_create(test_path("pool"), 4 << 20);
  for (uint64_t i = 0; i < 3; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    uint64_t *words = nvm_calloc(pool, 0, 8, sizeof *words);
    STORE(words[0], i);
    CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  }
  return pool;
}

/* A segment of the first log, with its frames, in a run of this kind, as of another slot. */
static struct nvm_segment *copy_segment(NVM_POOL *pool, enum nvm_chunk_kind kind, uint32_t slot) {
  uint64_t from = *(const uint64_t *)(pool->home + NVM_SLOTS_OFFSET + pool->logs[0]->bank * 8);
  uint64_t at = nvmi_heap_own_run(pool, kind, 1);
  CHECK(from && at);
  struct nvm_segment *segment = (struct nvm_segment *)(pool->home + at);
  memcpy(segment, pool->home + from, NVM_CHUNK_SIZE);
  segment->self = at;
  segment->slot = slot;
  segment->size = NVM_CHUNK_SIZE;
  segment->next = 0;
  segment->check = nvmi_segment_check(pool, segment);
  return segment;
}

/* Frames that a chunk has from an earlier use are no log's; those of a log that is lost are. */
TEST(log_segments_are_those_of_logs) {
  NVM_POOL *pool = make_pool();
  copy_segment(pool, NVM_CHUNK_TYPES, 0);
  CHECK(nvmi_logs_complete(pool));
  copy_segment(pool, NVM_CHUNK_LOG, 0);
  CHECK(!nvmi_logs_complete(pool));
  CHECK(nvm_pool_close(pool) == 0);
}

/* A slot that no pool has is no place to look at. */
TEST(log_segment_of_no_slot) {
  NVM_POOL *pool = make_pool();
  copy_segment(pool, NVM_CHUNK_LOG, FAR_SLOT);
  CHECK(!nvmi_logs_complete(pool));
  CHECK(nvm_pool_close(pool) == 0);
}

/* All behind the first frame that is one. */
static void leave_one_frame(NVM_POOL *pool, struct nvm_segment *segment) {
  bool found = false;
  for (uint64_t at = sizeof *segment; at < segment->size; at += NVM_FRAME_ALIGN) {
    struct nvm_frame *frame = (struct nvm_frame *)((char *)segment + at);
    bool valid = frame->transaction >> 16 && nvmi_frame_valid(pool, frame, segment->size - at);
    if (valid && found)
      memset((char *)frame, 0, NVM_FRAME_ALIGN);
    found |= valid;
  }
  CHECK(found);
}

/* What a bank begins with was linked before it had a single frame. */
TEST(log_segment_with_one_frame_had_a_link) {
  NVM_POOL *pool = make_pool();
  leave_one_frame(pool, copy_segment(pool, NVM_CHUNK_LOG, 0));
  CHECK(!nvmi_logs_complete(pool));
  CHECK(nvm_pool_close(pool) == 0);
}

/* No slot is used behind one that is not. */
TEST(log_slots_are_used_in_a_row) {
  NVM_POOL *pool = make_pool();
  struct nvm_log_slot *slots = (struct nvm_log_slot *)(pool->home + NVM_SLOTS_OFFSET);
  unsigned used = 0;
  while (slots[used].bank[0])
    used++;
  CHECK(used && nvmi_logs_complete(pool));
  for (unsigned bank = 0; bank < 2; bank++) {
    slots[used + 3].bank[bank] = slots[0].bank[0];
    CHECK(!nvmi_logs_complete(pool));
    slots[used + 3].bank[bank] = 0;
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* A table of chunks that leads nowhere is told of elsewhere. */
TEST(log_segments_end_where_the_table_does) {
  NVM_POOL *pool = make_pool();
  uint32_t last = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT) - 1;
  _Atomic uint64_t *word = (_Atomic uint64_t *)nvmi_chunk_word(pool, last);
  CHECK(*word == 0);
  alarm(5);
  *word = NVM_CHUNK_LOG;
  CHECK(nvmi_logs_complete(pool));
  *word = 0;
  CHECK(nvm_pool_close(pool) == 0);
}
