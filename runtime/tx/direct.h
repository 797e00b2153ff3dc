/* direct.h: bytes of new blocks that a commit stores in the file, not in its record.
 *
 * They are fenced before any frame of the record is put: the record may arrive whole before its own
 * fence. Crash before the first fence: the block is free, its bytes are nobody's. After: they are
 * there. No older record is replayed over them. Of a large block: its run was not taken before the
 * floor had passed all records that can name it. Of a block in a span: what its former life wrote,
 * and its last free, have orders up to the span's freed order, which lies below the bound that this
 * very record tells: with the record, no recovery replays them; without it, the block is free
 * (docs/internals/crash-consistency.md, N1, N3).
 *
 * While the log is the only one, that bound is the next order: all records there are were stored in
 * place by this thread, or fenced by whoever did, and the fence of these bytes is behind that. It
 * is raised after the fence and before the record reads it. In company the bound is that of
 * the last checkpoint, which a long commit takes first. So it is on a disk, also of the only log:
 * there the fence of these bytes does not wait for what earlier records stored in place (S6). And a
 * checkpoint is a sync of the whole file there: bytes of small blocks go directly only where there are
 * very many.
 */
#pragma once

#include "core/log_state.h"
#include "core/regions.h"
#include "core/thread.h"
#include "platform/persist.h"

/* Whether some of these bytes of the view are not the file's. */
static inline bool nvmi_direct_is_private(const struct nvm_pool *pool, uint64_t at, uint64_t size) {
  if (NVMI_LIKELY(pool->method->private_work))
    return true;
  uint64_t last = (at + size - 1) >> NVMI_REGION_SHIFT;
  for (uint64_t region = at >> NVMI_REGION_SHIFT; region <= last; region++)
    if (nvmi_region_is_private(pool, region << NVMI_REGION_SHIFT))
      return true;
  return false;
}

/* Stores an item's bytes in the file, whole lines past the cache: they need not be read into it. Where
 * the program's view is the file they are there, and are flushed. For a thread that fences itself before
 * anybody tells that they are durable. */
static inline void nvmi_direct_item(const struct nvm_pool *pool, const struct nvmi_line *item) {
  uint64_t at = (nvmi_line_first(item) << 6) - pool->header.base;
  if (NVMI_UNLIKELY(!nvmi_direct_is_private(pool, at, nvmi_line_count(item) << 6)))
    pool->persist->flush(pool->work + at, nvmi_line_count(item) << 6);
  else if (item->line & NVMI_RANGE || item->mask == UINT64_MAX)
    pool->persist->stream(pool->home + at, pool->work + at, nvmi_line_count(item) << 6);
  else
    pool->persist->store_line(pool->home + at, pool->work + at, item->mask);
}

/* What is read a few items later: in a long transaction it has left the first-level cache. */
static inline void nvmi_direct_fetch(const struct nvm_pool *pool, const struct nvmi_line *lines,
                                     size_t i, size_t count) {
  const struct nvmi_line *item = &lines[i + NVMI_LINES_AHEAD < count ? i + NVMI_LINES_AHEAD : i];
  __builtin_prefetch(pool->work + ((nvmi_line_first(item) << 6) - pool->header.base));
}

/* Stores them, fences, and remembers which items of the list they are: none where few lines are
 * candidates and none is of a large block. */
void nvmi_direct_store(struct nvmi_log *log, const struct nvmi_line *lines, size_t count);
/* Whether an item went. To be asked for each, in the same order; `next` begins with 0. */
static inline bool nvmi_direct_went(const struct nvmi_log *log, size_t index, size_t *next) {
  const size_t *taken = log->direct.items.items;
  if (*next >= log->direct.items.count || taken[*next] != index)
    return false;
  ++*next;
  return true;
}

/* Where what did not go is little: its lines, one by one, valid until the next commit. Null: too
 * many lines for one frame, or the list had no ranges to begin with. */
const struct nvmi_line *nvmi_direct_rest(struct nvmi_log *log, const struct nvmi_line *lines,
                                         size_t count, size_t *rest);
