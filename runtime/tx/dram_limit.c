/* dram_limit.c: bounds the DRAM that the private view of a pool takes (NVMOVE_SHADOW_DRAM=BYTES).
 *
 * Each page of the view that was ever written is a copy in DRAM. When there are more than the bound
 * after a commit, those that equal the file are dropped: the next access shows the file again.
 * Nothing is lost by that if nobody stores to the page between the comparison and the drop. Stores
 * are noted first, so it is enough that no other thread has anything noted, and that none can note:
 * a gate is shut, which every note looks at after it has said that it is at work (`busy`). A
 * barrier in all threads (membarrier) comes between shutting the gate and looking at them: a thread
 * then either shows what it does or finds the gate shut, and waits. Signals wait as well. A page
 * with something uncommitted differs from the file and stays.
 *
 * Fields that are never noted, and locks, are stored to at any moment by any thread. Where there are others, pages with
 * such fields stay; and a pool in which locks lie, which may be in any block, is not bounded.
 *
 * What was streamed to the file shows there before a page is dropped, without a fence: shutting the
 * gate is a locked instruction, which empties the buffers of this processor that combine writes
 * (Intel SDM 3, "Buffering of Write Combining Memory Locations"; AMD APM 2, "Write Combining"), as
 * the barrier does with all others'. Durable it need not be: the view follows the file's cached
 * content, and recovery still has the record.
 *
 * Not bounded are pages that one transaction writes, and those written while some thread always has
 * something uncommitted.
 */
#define _GNU_SOURCE
#include "tx/dram_limit.h"

#include "base/settings.h"
#include "base/signals.h"
#include "core/barrier.h"
#include "core/gate.h"
#include "heap/heap.h"
#include "heap/heap_types.h"
#include "log/checkpoint.h"
#include "log/log.h"
#include "types/judged.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

enum { PAGE = 4096, STEP = 16 /* blocks begin at multiples of it */ };

uint64_t nvmi_dram_limit(void) { return nvmi_setting_number("NVMOVE_SHADOW_DRAM"); }

static size_t bitmap_size(const struct nvm_pool *pool) { return pool->header.range / PAGE / 8; }

int nvmi_dram_limit_start(struct nvm_pool *pool) {
  uint64_t bytes = nvmi_dram_limit();
  if (!bytes || !pool->method->private_work)
    return 0;
  void *bits = mmap(NULL, bitmap_size(pool), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bits == MAP_FAILED)
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for a table of pages");
  pool->written = bits;
  pool->written_max = pool->written_limit = bytes / PAGE;
  return 0;
}

void nvmi_dram_limit_stop(struct nvm_pool *pool) {
  if (pool->written)
    munmap(pool->written, bitmap_size(pool));
}

void nvmi_dram_limit_wrote(struct nvm_pool *pool, uint64_t offset) {
  uint64_t page = offset / PAGE, bit = UINT64_C(1) << (page % 64);
  if (!(atomic_load_explicit(&pool->written[page / 64], memory_order_relaxed) & bit) &&
      !(atomic_fetch_or(&pool->written[page / 64], bit) & bit))
    atomic_fetch_add(&pool->written_count, 1);
}

/* Under the pool's lock: a thread does not go away meanwhile. What is read here is written without
 * one: the barrier orders it, which the sanitizer cannot see. */
__attribute__((no_sanitize("thread"))) static bool others_write(const struct nvm_pool *pool,
                                                                const struct nvmi_thread *self) {
  for (unsigned i = 0; i < pool->log_count; i++) {
    struct nvmi_thread *owner = pool->logs[i]->owner;
    if (!owner || owner == self)
      continue;
    if (owner->busy || owner->touched >> pool->index & 1)
      return true;
    nvmi_sees_at_rest(owner);
  }
  return false;
}

/* Whether a block on the page is of a type with fields that are never noted. */
static bool has_volatile(struct nvm_pool *pool, uint64_t page) {
  uint64_t end = page + PAGE, inside;
  uint32_t index;
  for (uint64_t at = page; at < end;) {
    const struct nvmi_span *span = nvmi_block_at(pool, at, &index, &inside);
    uint16_t type = span ? span->words[index] : 0;
    if (type && nvmi_judged_words(pool, type - 1u) >> NVMI_JUDGED_VOLATILE_BIT & 1)
      return true;
    at += span ? nvmi_block_size(span) - inside : STEP;
  }
  return false;
}

/* Drops what equals the file of 64 pages. */
static void drop_clean(struct nvm_pool *pool, uint64_t first) {
  uint64_t left = pool->written[first / 64], kept = left;
  for (; left; left &= left - 1) {
    uint64_t page = first + (unsigned)__builtin_ctzll(left), offset = page * PAGE;
    if ((pool->has_volatile && !__libc_single_threaded && has_volatile(pool, offset)) ||
        memcmp(pool->work + offset, pool->home + offset, PAGE) != 0 ||
        madvise(pool->work + offset, PAGE, MADV_DONTNEED) != 0)
      continue;
    kept &= ~(UINT64_C(1) << (page % 64));
    pool->written_count--;
  }
  pool->written[first / 64] = kept;
}

static void shrink_alone(struct nvmi_log *log) {
  struct nvm_pool *pool = log->pool;
  nvmi_gate_shut(&pool->gate, NVMI_GATE_DRAM_LIMIT);
  if (nvmi_barrier_in_all_threads() && !others_write(pool, log->owner)) {
    if (pool->file) /* what a page shows when it is dropped; `home` may be ahead of it */
      nvmi_checkpoint(pool);
    uint64_t end = (pool->header.heap_offset + pool->header.heap_size) / PAGE;
    for (uint64_t first = 0; first < end; first += 64)
      drop_clean(pool, first);
    uint64_t twice = 2 * pool->written_count; /* not the same in vain after each commit */
    pool->written_limit = twice > pool->written_max ? twice : pool->written_max;
  }
  nvmi_gate_open(&pool->gate, NVMI_GATE_DRAM_LIMIT);
}

void nvmi_dram_limit_keep(struct nvmi_log *log) {
  struct nvm_pool *pool = log->pool;
  if (pool->written_count <= pool->written_limit)
    return;
  sigset_t before = nvmi_signals_hold();
  nvmi_lock(&pool->lock); /* no thread gets its first log meanwhile */
  bool has_locks = pool->stores_unnoted && !__libc_single_threaded;
  if (!has_locks && !others_write(pool, log->owner)) /* not yet for sure, but often in vain */
    shrink_alone(log);
  nvmi_unlock(&pool->lock);
  nvmi_signals_release(&before);
}
