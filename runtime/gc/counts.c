/* counts.c: the tables of a pool that counts references: made, looked at, made anew (counts.h). */
#include "gc/counts.h"
#include "base/uncancelled.h"
#include "gc/collect.h"

#include "base/checksum.h"
#include "base/kill.h"
#include "base/own_threads.h"
#include "base/signals.h"
#include "core/header.h"
#include "heap/heap_types.h"

#include "nvmove/inspect.h"

#include <string.h>
#include <sys/mman.h>

static uint64_t size_of_head(const struct nvm_pool *pool) {
  return sizeof(struct nvm_counts) + 2 * NVM_BATCH_SIZE + (uint64_t)NVM_RING_LINES * NVM_RING_LINE +
         nvmi_counts_words(pool) * sizeof(uint64_t);
}

static uint64_t check_of(const struct nvm_pool *pool, const struct nvm_counts *head) {
  return nvmi_check(&head->self, sizeof head->self + sizeof head->size, pool->id_seed);
}

static struct nvm_counts *head_of(const struct nvm_pool *pool) {
  return (struct nvm_counts *)(pool->home + pool->header.counts);
}

static const uint64_t *directory_of(const struct nvm_pool *pool) {
  return (const uint64_t *)((char *)head_of(pool) + size_of_head(pool)) - nvmi_counts_words(pool);
}

static bool is_run(const struct nvm_pool *pool, uint64_t offset, uint64_t size) {
  const struct nvm_header *h = &pool->header;
  uint64_t from = offset - h->heap_offset;
  return offset >= h->heap_offset && from % NVM_CHUNK_SIZE == 0 && from < h->heap_size &&
         size <= h->heap_size - from &&
         *nvmi_chunk_word(pool, (uint32_t)(from >> NVM_CHUNK_SHIFT)) ==
             NVM_CHUNK_ENTRY(NVM_CHUNK_COUNTS, 0, 0, nvmi_chunks_for(size));
}

/* 0 for a word that leads to no table yet. */
static uint64_t sum_of(const struct nvm_pool *pool, uint64_t i, uint64_t word) {
  const uint64_t both[] = {i, word};
  return word ? nvmi_check(both, sizeof both, pool->id_seed) : 0;
}

static uint64_t sum_of_all(const struct nvm_pool *pool) {
  const uint64_t *directory = directory_of(pool);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < nvmi_counts_words(pool); i++)
    sum += sum_of(pool, i, directory[i]);
  return sum;
}

/* Whether damage changed a word: two that lead to the same table would count in it both. A crash may have
 * left one word that the sum does not have yet. */
static bool is_damaged(const struct nvm_pool *pool) {
  const uint64_t *directory = directory_of(pool);
  uint64_t more = sum_of_all(pool) - head_of(pool)->sum;
  if (!more)
    return false;
  for (uint64_t i = 0; i < nvmi_counts_words(pool); i++)
    if (directory[i] && sum_of(pool, i, directory[i]) == more)
      return false;
  return true;
}

const char *nvmi_counts_fault(const struct nvm_pool *pool) {
  if (!pool->header.counts)
    return NULL;
  if (!is_run(pool, pool->header.counts, size_of_head(pool)))
    return "reference counts: the header leads to no run of theirs";
  const struct nvm_counts *head = head_of(pool);
  if (head->check != check_of(pool, head) || head->self != pool->header.counts ||
      head->size != size_of_head(pool))
    return "reference counts: their first line is damaged";
  const uint64_t *directory = directory_of(pool);
  for (uint64_t i = 0; i < nvmi_counts_words(pool); i++)
    if (directory[i] && !is_run(pool, directory[i], NVM_COUNTS_TABLE))
      return "reference counts: the directory leads to no table";
  return is_damaged(pool) ? "reference counts: the directory is damaged" : NULL;
}

/* 1: the run that starts there is the first line's or a table's. */
static unsigned is_named(const struct nvm_pool *pool, uint64_t offset, uint64_t size, bool whole) {
  const struct nvm_header *h = &pool->header;
  (void)size, (void)whole;
  if (!h->counts || offset == h->counts)
    return h->counts != 0;
  if (size_of_head(pool) > h->heap_offset + h->heap_size - h->counts)
    return false;
  const uint64_t *directory = directory_of(pool);
  for (uint64_t i = 0; i < nvmi_counts_words(pool); i++)
    if (directory[i] == offset)
      return true;
  return false;
}

static uint64_t chunks_at(const struct nvm_pool *pool, uint64_t at) {
  if (!is_named(pool, at, 0, false))
    return 0;
  return nvmi_chunks_for(at == pool->header.counts ? size_of_head(pool) : NVM_COUNTS_TABLE);
}

const struct nvmi_run_owner nvmi_counts_owner = {NVM_CHUNK_COUNTS, chunks_at, is_named, 0, 0, 0};

static void *free_dram(struct nvmi_counts *counts) {
  nvmi_mutex_remove(&counts->append);
  nvmi_mutex_remove(&counts->count);
  if (counts->state)
    munmap((void *)counts->state, NVM_RING_LINES);
  if (counts->lines)
    munmap(counts->lines, NVM_RING_LINES * sizeof *counts->lines);
  if (counts->ended)
    munmap(counts->ended, NVM_SLOTS_MAX * sizeof *counts->ended);
  if (counts->covered)
    munmap((void *)counts->covered, nvmi_counts_words(counts->pool));
  if (counts->scratch)
    nvmi_count_scratch_free(counts->scratch);
  nvmi_batch_free(counts);
  munmap(counts, sizeof *counts);
  return NULL;
}

static struct nvmi_counts *make_dram(struct nvm_pool *pool, uint64_t head_offset) {
  struct nvmi_counts *counts = nvmi_dram_reserve(sizeof *counts);
  if (!counts)
    return NULL;
  char *at = pool->home + head_offset;
  counts->pool = pool;
  counts->head = (struct nvm_counts *)at;
  counts->stale = nvmi_counts_stale(counts);
  counts->batch[0] = (struct nvm_batch *)(at + sizeof *counts->head);
  counts->batch[1] = (struct nvm_batch *)(at + sizeof *counts->head + NVM_BATCH_SIZE);
  counts->ring = at + sizeof *counts->head + 2 * NVM_BATCH_SIZE;
  counts->directory = (uint64_t *)(at + size_of_head(pool)) - nvmi_counts_words(pool);
  counts->state = nvmi_dram_reserve(NVM_RING_LINES);
  counts->lines = nvmi_dram_reserve(NVM_RING_LINES * sizeof *counts->lines);
  counts->ended = nvmi_dram_reserve(NVM_SLOTS_MAX * sizeof *counts->ended);
  counts->covered = nvmi_dram_reserve(nvmi_counts_words(pool));
  counts->scratch = nvmi_count_scratch_make();
  nvmi_mutex_add(&counts->append, NVMI_LOCK_APPEND);
  nvmi_mutex_add(&counts->count, NVMI_LOCK_COUNT);
  pthread_cond_init(&counts->wake, NULL);
  if (nvmi_batch_make(counts) || !counts->state || !counts->lines || !counts->ended ||
      !counts->covered || !counts->scratch)
    return free_dram(counts);
  return counts;
}

static bool is_whole(const struct nvm_pool *pool, const struct nvm_batch *batch, uint64_t parity) {
  if (!batch->sequence || (batch->sequence & 1) != parity || batch->count > NVM_BATCH_MAX ||
      batch->check != nvmi_batch_check(pool, batch))
    return false;
  const struct nvm_count *entries = (const struct nvm_count *)(batch + 1);
  for (uint32_t i = 0; i < batch->count; i++)
    if (entries[i].place % 2 || entries[i].place < pool->header.heap_offset ||
        entries[i].place >= pool->header.heap_offset + pool->header.heap_size)
      return false;
  return true;
}

/* The newest whole batch is stored again, whether or not it was: its counts are what they should be
 * after it. The one before it is durable (counts_batch.c). Where damage took it the counts in
 * place are not those of the one before: the tables are not exact any more. */
static void go_on(struct nvmi_counts *counts) {
  struct nvm_pool *pool = counts->pool;
  const struct nvm_batch *newest = NULL;
  for (uint64_t i = 0; i < 2; i++)
    if (is_whole(pool, counts->batch[i], i) &&
        (!newest || counts->batch[i]->sequence > newest->sequence))
      newest = counts->batch[i];
  if (counts->head->counted > (newest ? newest->sequence : 0))
    nvmi_counts_say_stale(counts);
  if (!newest)
    return;
  nvmi_batch_apply(pool, newest);      /* fenced with the header, before anything else is counted */
  counts->sequence = newest->sequence; /* the next takes the damaged one's place */
  counts->done = counts->end = newest->position;
  counts->within = newest->within;
}

int nvmi_counts_start(struct nvm_pool *pool) {
  if (!pool->header.counts)
    return 0;
  const char *fault = nvmi_counts_fault(pool);
  if (fault)
    return nvmi_fail(NVM_ECORRUPT, pool->path, "%s; " NVMI_REPAIR_HINT, fault);
  pool->counts = make_dram(pool, pool->header.counts);
  if (!pool->counts)
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for its reference counts");
  /* Who set them may have died before its fence; fenced with the header. */
  pool->persist->flush(&pool->counts->head->exact, sizeof pool->counts->head->exact);
  for (uint64_t i = 0; i < nvmi_counts_words(pool); i++)
    if (pool->counts->directory[i]) {
      pool->persist->flush(&pool->counts->directory[i], sizeof(uint64_t));
      pool->counts->covered[i] = true;
    }
  pool->follower = &nvmi_counts_follower;
  uint64_t sum = sum_of_all(pool);
  if (sum != pool->counts->head->sum) { /* a process was killed between a word and the sum */
    pool->persist
        ->fence(); /* crash before: the same again; the sum never has a word that the media lacks */
    pool->counts->head->sum = sum; /* fenced with the header, before another word is set */
    pool->persist->flush(&pool->counts->head->sum, sizeof pool->counts->head->sum);
  }
  go_on(pool->counts);
  pool->counts->candidates_lost = pool->header.state != NVM_STATE_CLEAN ||
                                  pool->counts->head->released != pool->header.generation;
  return 0;
}

void nvmi_counts_rest(struct nvm_pool *pool) {
  struct nvmi_counts *counts = pool->counts;
  if (!counts || !counts->has_thread || pool->forked)
    return;
  nvmi_own_thread_ends();
  nvmi_lock(&counts->append);
  counts->stop = true;
  pthread_cond_signal(&counts->wake);
  nvmi_unlock(&counts->append);
  NVMI_UNCANCELLED(pthread_join(counts->thread, NULL)); /* not where that thread calls exit */
  counts->stop = counts->has_thread = false;
}

void nvmi_counts_stop(struct nvm_pool *pool) {
  struct nvmi_counts *counts = pool->counts;
  if (!counts)
    return;
  nvmi_counts_rest(pool);
  pool->follower = NULL;
  pool->counts = NULL;
  free_dram(counts);
}

static void clear(const struct nvm_pool *pool, char *at, size_t size) {
  enum { PAGE = 4096 };
  for (size_t i = 0; i < size; i += PAGE) {
    size_t part = size - i < PAGE ? size - i : PAGE;
    if (!at[i] && memcmp(at + i, at + i + 1, part - 1) == 0)
      continue; /* as most are: chunks that were never used */
    memset(at + i, 0, part);
    pool->persist->flush(at + i, part);
  }
}

/* A run of `size` bytes, all zero and durable as such; 0: recorded. */
static uint64_t zero_run(struct nvm_pool *pool, uint64_t size) {
  uint64_t at = nvmi_heap_own_run(pool, NVM_CHUNK_COUNTS, nvmi_chunks_for(size));
  if (!at)
    return 0;
  clear(pool, pool->home + at, size);
  pool->persist->fence();
  return at;
}

/* Crash before the directory names the table: a run that nothing leads to, freed by the next build
 * of the heap. A count in it comes later, with a batch of this or of another thread: so the word is
 * fenced before anybody takes it for there. */
static bool cover_anew(struct nvmi_counts *counts, uint64_t to) {
  uint64_t *word = &counts->directory[nvmi_counts_table(to)];
  _Atomic bool *covered = &counts->covered[nvmi_counts_table(to)];
  struct nvm_pool *pool = counts->pool;
  nvmi_lock(&counts->append);
  uint64_t at = *word ? *word : zero_run(pool, NVM_COUNTS_TABLE);
  if (at && !*word) {
    __atomic_store_n(word, at, __ATOMIC_RELEASE);
    pool->persist->flush(word, sizeof *word);
    pool->persist->fence();
    /* Crash before: the directory has one more than the sum. Fenced before the next word is set. */
    counts->head->sum += sum_of(pool, nvmi_counts_table(to), at);
    pool->persist->flush(&counts->head->sum, sizeof counts->head->sum);
    pool->persist->fence();
    atomic_store_explicit(covered, true, memory_order_release);
  }
  nvmi_unlock(&counts->append);
  return at;
}

/* Signals wait: the heap gives a run, and the log of a handler that stores could not become longer. */
bool nvmi_counts_cover(struct nvmi_counts *counts, uint64_t to) {
  if (NVMI_LIKELY(
          atomic_load_explicit(&counts->covered[nvmi_counts_table(to)], memory_order_acquire)))
    return true;
  sigset_t before = nvmi_signals_hold();
  bool is_covered = cover_anew(counts, to);
  nvmi_signals_release(&before);
  return is_covered;
}

/* Crash before the header says so: a run that nothing leads to. After: the tables are stale. */
int nvm_pool_count_references(NVM_POOL *pool) {
  if (nvmi_check_quiet(pool))
    return -1;
  if (pool->counts)
    return 0;
  uint64_t at = zero_run(pool, size_of_head(pool));
  if (!at)
    return -1;
  struct nvm_counts head = {.self = at, .size = size_of_head(pool)};
  head.check = check_of(pool, &head);
  pool->persist->stream(pool->home + at, &head, sizeof head);
  pool->persist->fence();
  nvmi_step(NVMI_STEP_COUNT);
  struct nvmi_counts *counts = make_dram(pool, at);
  if (!counts)
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for its reference counts");
  nvmi_lock(&pool->lock);
  pool->header.counts = at;
  nvmi_header_write(pool);
  nvmi_unlock(&pool->lock);
  nvmi_step(NVMI_STEP_COUNT);
  pool->counts = counts;
  pool->follower = &nvmi_counts_follower;
  return nvmi_counts_anew(pool);
}
