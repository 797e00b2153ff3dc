/* log_read.c: where logs end, of frames and segments that were made by hand (log/log_end.c). */
#include "log/log_read.h"
#include "base/basics.h"
#include "harness.h"
#include "heap/heap.h"
#include "store.h"

#include <string.h>

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
