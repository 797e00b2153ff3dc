/* block_alloc.c: nvm_alloc and its family, in general (block_quick.c: usually).
 *
 * Allocation claims a block in DRAM and leaves the rest to the transaction (heap_intents.c).
 */
#include "alloc/block_alloc.h"
#include "heap/heap_claim.h"
#include "heap/heap_spans.h"
#include "types/judged.h"

#include "core/barrier.h"
#include "core/exits.h"
#include "core/gate.h"
#include "core/lines.h"
#include "core/map.h"
#include "core/tracing.h"
#include "heap/heap_locate.h"
#include "heap/heap_recent.h"
#include "order/order.h"
#include "tx/called.h"
#include "tx/wrap.h"
#include "types/types.h"

#include <string.h>

/* The heap's part of a call: notes of signal handlers take the nested way meanwhile. `in_call` covers
 * `in_heap`: where the log cannot become longer, the same bytes have one entry. */
static struct nvmi_log *enter(struct nvm_pool *pool) {
  if (pool->forked) {
    nvmi_heap_refuse_child(pool);
    return NULL;
  }
  struct nvmi_thread *thread = nvmi_thread_self();
  if (NVMI_UNLIKELY(nvmi_exit_was_here()))
    nvmi_exit_again();
  struct nvmi_log *log = nvmi_log_of(thread, pool);
  if (!log)
    return NULL;
  thread->in_call++;
  thread->in_heap++;
  thread->busy++;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(pool->gate || nvmi_all_stand()))
    nvmi_gate_enter(thread, UINT64_C(1) << pool->index);
  log->alone = nvmi_solo_enter(log);
  return log;
}

static void leave(struct nvmi_log *log) {
  nvmi_solo_leave(log);
  nvmi_says_it_rests(log->owner);
  log->owner->busy--;
  log->owner->in_heap--;
  log->owner->in_call--;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(log->owner->posts_count))
    nvmi_order_post(log->owner);
}

/* True: it is zero now. */
static bool remember(struct nvmi_log *log, char *block, size_t size) {
  if (size > NVMI_FRESH_NOTED) {
    nvmi_note_later(log->owner, block, size);
    return false;
  }
  nvmi_trace(log->pool, NVM_TRACE_NOTE, nvmi_offset(log->pool, block), size);
  nvmi_note_fresh(log->owner, block, size);
  nvmi_trace_stored(block, size);
  return true;
}

/* `*zero`: the block's bytes are. */
static char *allocate(struct nvmi_log *log, uint64_t type, size_t size, bool *zero) {
  struct nvm_pool *pool = log->pool;
  uint32_t word = 1 + (uint32_t)type;
  struct nvmi_intent *intent = nvmi_heap_claim(log, size, word, zero);
  if (!intent)
    return NULL;
  const struct nvmi_span *span = intent->span;
  nvmi_intent_live(log, intent, word);
  log->stats.allocations++;
  char *block = intent->address;
  nvmi_trace(pool, NVM_TRACE_ALLOC, nvmi_offset(pool, block), nvmi_block_size(span));
  *zero |= remember(log, block, nvmi_block_size(span));
  return block;
}

/* Of a type, in the pool; -1: recorded. */
static int index_of(struct nvm_pool *pool, uint64_t type) {
  struct nvmi_log *log = nvmi_log_of(nvmi_thread_self(), pool);
  if (!log)
    return -1;
  unsigned slot = nvmi_type_slot(type);
  if (NVMI_UNLIKELY(log->blocks.types[slot].id != type)) {
    int index = nvmi_type_index(pool, type);
    if (index < 0)
      return -1;
    log->blocks.types[slot].index = index;
    log->blocks.types[slot].id = type;
  }
  return log->blocks.types[slot].index;
}

static void clear(char *block, size_t size) {
  __nvm_note(block, size);
  memset(block, 0, size);
  nvmi_trace_stored(block, size);
}

/* A block whose type has pointers holds nothing but what the program stores: what was left there by
 * another block is no pointer, not in what a realloc copies either. Nor is what lies behind the
 * program's bytes, where a last record may go on. */
static void *alloc(NVM_POOL *pool, uint64_t type, size_t size, bool *zero) {
  if (!pool || !size) {
    if (pool)
      nvmi_fail(NVM_EARGUMENT, pool->path, "an allocation of 0 bytes; ask for 1 byte or more");
    else
      nvmi_fail_no_pool();
    return NULL;
  }
  if (size > pool->header.range - pool->header.heap_offset) {
    nvmi_fail(NVM_ETOOLARGE, pool->path,
              "an allocation of %zu bytes; the pool may grow to %llu at most", size,
              (unsigned long long)pool->header.range);
    return NULL;
  }
  int index = type && !pool->forked ? index_of(pool, type) : 0;
  struct nvmi_log *log = index < 0 ? NULL : enter(pool);
  if (!log)
    return NULL;
  char *block = allocate(log, (uint64_t)index, size, zero);
  leave(log);
  if (block && !*zero && index) {
    size_t from = nvmi_zero_from(pool, (unsigned)index, size),
           usable = nvmi_heap_usable_size(block);
    if (from < usable)
      clear(block + from, usable - from);
    *zero = !from;
  }
  return block;
}

void *nvmi_alloc_slowly(NVM_POOL *pool, uint64_t type, size_t size) {
  return alloc(pool, type, size, &(bool){false});
}

void *nvm_calloc(NVM_POOL *pool, uint64_t type, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    nvmi_fail(NVM_ETOOLARGE, pool ? pool->path : NULL, "an allocation of %zu times %zu bytes",
              count, size);
    return NULL;
  }
  bool zero = false;
  void *block = alloc(pool, type, bytes, &zero);
  if (block && !zero)
    clear(block, bytes);
  return block;
}

int nvmi_free_slowly(void *address) {
  struct nvm_pool *pool;
  struct nvmi_location at;
  if (!address)
    return 0;
  struct nvmi_log *log = nvmi_block_find(address, &pool, &at) ? enter(pool) : NULL;
  if (!log)
    return -1;
  struct nvmi_span *span = nvmi_span_at(pool, at.chunk);
  int result = 0;
  if (nvmi_clear_bit(span->live, at.index, log->alone)) {
    struct nvmi_intent *intent = nvmi_recent_find(log, address);
    if (intent)
      nvmi_heap_make_local(log, intent);
    else
      nvmi_intent_add(log, nvmi_intent_of(pool, span, at.index, NVMI_FREED));
    log->stats.frees++;
    nvmi_trace(pool, NVM_TRACE_FREE, nvmi_offset(pool, address), nvmi_block_size(span));
  } else {
    result = nvmi_fail(NVM_EDOUBLEFREE, pool->path, "the block at %p is free already", address);
  }
  leave(log);
  return result;
}

/* Of a block that has bytes in an alias table, perhaps. */
static void clear_wrapped(char *block, size_t size) {
  static const char zeros[256];
  for (size_t done = 0, part; done < size; done += part) {
    part = size - done < sizeof zeros ? size - done : sizeof zeros;
    nvmi_write(block + done, zeros, part);
  }
}

void nvmi_block_clear_end(char *block, size_t from, size_t to) {
  if (nvmi_pool_at(block)->method->store) {
    clear_wrapped(block + from, to - from);
    return;
  }
  while (from < to && !block[from])
    from++;
  if (from < to && !nvmi_pool_at(block)->forked)
    clear(block + from, to - from);
}

void *nvmi_block_move(struct nvm_pool *pool, uint64_t type, void *address, size_t size,
                      size_t old_size) {
  size_t kept = size < old_size ? size : old_size;
  char *block = nvm_alloc(pool, type, size);
  if (!block)
    return NULL;
  __nvm_note(block, kept);
  nvmi_read(block, address, kept);
  nvmi_trace_stored(block, kept);
  if (nvm_free(address) != 0) { /* freed already */
    nvm_free(block);
    return NULL;
  }
  nvmi_called_moved(nvmi_self, address, old_size, block, nvm_usable_size(block));
  return block;
}

void *nvm_realloc(NVM_POOL *pool, void *address, size_t size) {
  struct nvmi_location at;
  struct nvm_pool *home;
  if (!address || !pool)
    return nvm_alloc(pool, 0, size);
  if (!nvmi_block_find(address, &home, &at))
    return NULL;
  if (home != pool) {
    nvmi_fail(NVM_EPOINTER, pool->path, "%p is a block of another pool, %s; move it there", address,
              home->path);
    return NULL;
  }
  uint64_t old_size = nvmi_block_size_at(pool, at.chunk);
  uint16_t word = nvmi_span_at(pool, at.chunk)->words[at.index];
  if (size && size <= old_size && size > old_size / 2) {
    if (word > 1 && nvmi_zero_from(pool, word - 1u, size) != SIZE_MAX)
      nvmi_block_clear_end(address, size, old_size);
    nvmi_called_moved(nvmi_thread_self(), address, old_size, address, old_size);
    return address;
  }
  return nvmi_block_move(pool, word > 1 ? pool->type_ids[word - 1] : 0, address, size, old_size);
}
