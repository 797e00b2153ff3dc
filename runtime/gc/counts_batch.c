/* counts_batch.c: from activation records to counts: redo entries of many records at once
 * (counts.h, Breeze's second phase). */
#include "gc/counts.h"

#include "base/checksum.h"
#include "base/kill.h"
#include "log/log.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

/* What a batch makes of the count of 16 bytes: a slot of a hash table. */
struct nvmi_count_delta {
  uint64_t to; /* nvm_reference's word; 0: free */
  uint16_t *at;
  uint32_t value;
};
enum { DELTAS = 4096, CANDIDATES_MAX = 1 << 20 };

uint64_t nvmi_batch_check(const struct nvm_pool *pool, const struct nvm_batch *batch) {
  return nvmi_check(&batch->sequence,
                    sizeof *batch - sizeof batch->check + batch->count * sizeof(struct nvm_count),
                    pool->id_seed);
}

int nvmi_batch_make(struct nvmi_counts *counts) {
  counts->deltas = nvmi_dram_reserve(DELTAS * sizeof *counts->deltas);
  return counts->deltas ? 0 : -1;
}

void nvmi_batch_free(struct nvmi_counts *counts) {
  if (counts->deltas)
    munmap(counts->deltas, DELTAS * sizeof *counts->deltas);
  nvmi_array_free(&counts->touched, sizeof(uint32_t));
  nvmi_array_free(&counts->candidates, sizeof(uint64_t));
}

static struct nvmi_count_delta *delta_of(struct nvmi_counts *counts, uint64_t to) {
  uint32_t slot = (uint32_t)((to >> 4 | to << 60) * UINT64_C(0x9e3779b97f4a7c15) >> 52);
  for (;; slot = (slot + 1) % DELTAS) {
    struct nvmi_count_delta *delta = &counts->deltas[slot];
    if (delta->to == to)
      return delta;
    if (delta->to)
      continue;
    uint16_t *at = nvmi_counts_at(counts, to);
    if (!at || !nvmi_array_push(&counts->touched, &slot, sizeof slot))
      return NULL;
    *delta = (struct nvmi_count_delta){to, at, *at};
    return delta;
  }
}

/* A count below 0 cannot be: something is not as it should, and nothing is freed by it. */
static void change(struct nvmi_counts *counts, uint64_t to, bool more) {
  struct nvmi_count_delta *delta = delta_of(counts, to);
  if (!delta || (!more && !delta->value))
    nvmi_counts_spoil(counts->pool);
  else if (delta->value != NVM_COUNT_MANY)
    delta->value += more ? 1 : UINT32_MAX;
}

static void add_candidate(struct nvmi_counts *counts, uint64_t place) {
  if (counts->candidates.count == CANDIDATES_MAX ||
      !nvmi_array_push(&counts->candidates, &place, sizeof place))
    counts->candidates_lost = true;
}

static void take(struct nvmi_counts *counts, const struct nvm_reference *reference) {
  if (reference->before & NVM_REFERENCE_NEW) {
    add_candidate(counts, reference->before & ~UINT64_C(15));
    return;
  }
  if (reference->after)
    change(counts, reference->after, true);
  if (reference->before)
    change(counts, reference->before, false);
}

/* Takes in what has ended, as far as a batch has room. Gives where it stopped. */
static uint64_t gather(struct nvmi_counts *counts) {
  uint64_t position = counts->done, end = atomic_load(&counts->end);
  while (position < end && counts->touched.count + 2 <= NVM_BATCH_MAX) {
    uint64_t slot = position % NVM_RING_LINES;
    uint8_t state = atomic_load_explicit(&counts->state[slot], memory_order_acquire);
    if (state == NVMI_RECORD_OPEN)
      break;
    const struct nvm_activation *record = (const void *)(counts->ring + slot * NVM_RING_LINE);
    uint32_t at = counts->within, count = state == NVMI_RECORD_DONE ? (uint32_t)record->count : 0;
    for (; at < count && counts->touched.count + 2 <= NVM_BATCH_MAX; at++) {
      uint64_t place = slot * NVM_RING_LINE + sizeof *record + at * sizeof(struct nvm_reference);
      take(counts, (const void *)(counts->ring + place % (NVM_RING_LINES * NVM_RING_LINE)));
    }
    counts->within = at < count ? at : 0;
    if (at < count)
      break;
    position += counts->lines[slot];
  }
  return position;
}

/* Sets the counts that a batch names, in place, flushed. */
void nvmi_batch_apply(struct nvm_pool *pool, const struct nvm_batch *batch) {
  const struct nvm_count *entries = (const struct nvm_count *)(batch + 1);
  for (uint32_t i = 0; i < batch->count; i++) {
    uint16_t *at = (uint16_t *)(pool->home + entries[i].place);
    __atomic_store_n(at, (uint16_t)entries[i].value, __ATOMIC_RELAXED);
    pool->persist->flush(at, sizeof *at);
    if (i == batch->count / 2)
      nvmi_step(NVMI_STEP_COUNT);
  }
}

void nvmi_batch_keep(struct nvmi_counts *counts) {
  __atomic_store_n(&counts->head->counted, counts->sequence, __ATOMIC_RELAXED);
  counts->pool->persist->flush(&counts->head->counted, sizeof counts->head->counted);
  counts->pool->persist->fence();
}

static void write_batch(struct nvmi_counts *counts, uint64_t position) {
  struct nvm_pool *pool = counts->pool;
  _Alignas(64) char bytes[NVM_BATCH_SIZE];
  struct nvm_batch *batch = (struct nvm_batch *)bytes;
  struct nvm_count *entries = (struct nvm_count *)(batch + 1);
  const uint32_t *touched = counts->touched.items;
  *batch = (struct nvm_batch){
      .sequence = ++counts->sequence, .position = position, .within = counts->within};
  for (size_t i = 0; i < counts->touched.count; i++) {
    struct nvmi_count_delta *delta = &counts->deltas[touched[i]];
    if (delta->value != *delta->at)
      entries[batch->count++] =
          (struct nvm_count){(uint64_t)((char *)delta->at - pool->home), delta->value};
  }
  batch->check = nvmi_batch_check(pool, batch);
  size_t size = (sizeof *batch + batch->count * sizeof *entries + 63) & ~(size_t)63;
  memset(entries + batch->count, 0, size - sizeof *batch - batch->count * sizeof *entries);
  pool->persist->stream(counts->batch[batch->sequence & 1], batch, size);
  nvmi_step(NVMI_STEP_COUNT);
  /* Crash before this fence: the records are counted again, from where the other batch says, whose
   * counts are durable. After: this batch is stored again at opening. */
  pool->persist->fence();
  /* Crash before the next fence: the same as behind it. But without the batch its counts, in place, would be
   * counted again. */
  nvmi_batch_keep(counts);
  nvmi_step(NVMI_STEP_COUNT);
  nvmi_batch_apply(pool, batch);
  /* Whoever counts next may be another thread, and overwrites the batch before this one, then this:
   * its fence says nothing about these flushes. */
  pool->persist->fence();
  nvmi_step(NVMI_STEP_COUNT);
}

static void forget(struct nvmi_counts *counts) {
  const uint32_t *touched = counts->touched.items;
  for (size_t i = 0; i < counts->touched.count; i++) {
    struct nvmi_count_delta *delta = &counts->deltas[touched[i]];
    if (!delta->value && !(delta->to & NVM_REFERENCE_WEAK))
      add_candidate(counts, delta->to);
    delta->to = 0;
  }
  counts->touched.count = 0;
}

bool nvmi_counts_step(struct nvmi_counts *counts) {
  nvmi_lock(&counts->count);
  uint32_t within = counts->within;
  uint64_t position = gather(counts);
  bool moved = position != counts->done || counts->within != within;
  if (moved)
    write_batch(counts, position);
  forget(counts);
  atomic_store(&counts->done, position);
  nvmi_unlock(&counts->count);
  return moved;
}

void nvmi_counts_drain(struct nvm_pool *pool) {
  struct nvmi_counts *counts = pool->counts;
  while (counts && counts->done != counts->end)
    if (!nvmi_counts_step(counts))
      sched_yield();
}
