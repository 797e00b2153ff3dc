/* lat.c: new values stay in a table of the transaction's own until it commits: the Local Alias Table
 * of the SCM paper ("Persisting In-Memory Databases Using SCM", section II.A).
 *
 * Stores and loads come as calls (nvmove/wrap.h, --nvmove-redirect). A store goes to the alias table
 * (core/alias.h), a load looks there first. The program's view is the file itself, so there is no
 * second copy of the pool in DRAM. Commit writes one redo record and fences once; then the values go
 * to their places, which is not waited for (docs/internals/crash-consistency.md, L1 to L4). Bytes of
 * a block that the transaction has allocated are stored in place at once: nobody else has the block,
 * and after a crash it is free. They are in the record as well, but for large blocks and long stores, which
 * are fenced before the record (tx/direct.h).
 *
 * Other threads see a value when it is in place, or when the transaction has released a lock: then
 * they are captured, as with `shadow`, and handed over (core/handed.h).
 *
 * A program whose loads and stores come as calls (--nvmove-redirect) also has accesses in place: by pre-compiled
 * functions, and atomic ones. In front of them the bytes are brought to a private region of the view (core/regions.h),
 * and are noted there as with `shadow` (L7).
 *
 * What it does not do: plain stores of other programs are refused. Plain loads see what has committed.
 */
#include "methods/lat.h"

#include "base/kill.h"
#include "base/signals.h"
#include "base/sort.h"
#include "core/alias.h"
#include "core/handed.h"
#include "core/lines.h"
#include "core/redirected.h"
#include "core/regions.h"
#include "judge/unnoted.h"
#include "methods/methods.h"
#include "methods/redo_commit.h"
#include "methods/shadow.h"
#include "order/order_join.h"
#include "tx/direct.h"

#include <assert.h>
#include <string.h>

void nvmi_refuse_plain_store(struct nvmi_log *log) {
  if (NVMI_LIKELY(nvmi_is_redirected()))
    return;
  nvmi_fatal(
      NVM_EMETHOD, log->pool->path,
      "a plain store to a pool whose method sees only stores that are calls; compile with "
      "--nvmove-redirect, or store by nvm_wrap_store64 or nvm_wrap_write, or open the pool with "
      "NVMOVE_METHOD=shadow or NVMOVE_METHOD=undo");
}

/* Of what a redirected program stores in place: behind it the view does not reach the file. */
static void lat_note(struct nvmi_log *log, const void *address, size_t size) {
  struct nvm_pool *pool = log->pool;
  nvmi_refuse_plain_store(log);
  uint64_t first = nvmi_offset(pool, address), last = first + size - 1;
  for (uint64_t region = first >> NVMI_REGION_SHIFT; region <= last >> NVMI_REGION_SHIFT; region++)
    nvmi_handed_own(pool, region << NVMI_REGION_SHIFT);
}

/* What members that nobody notes have there an abort gives back. */
static void cover(struct nvmi_log *log, const struct nvmi_captured *alias) {
  uintptr_t start = alias->line * NVM_LINE_SIZE;
  for (unsigned i = 0, end; i < NVM_LINE_SIZE; i = end + 1) {
    for (end = i; end < NVM_LINE_SIZE && alias->mask >> end & 1;)
      end++;
    if (end > i)
      nvmi_cover(log, start + i, start + end);
  }
}

/* The bytes are in place from now on, and noted, where a crash takes them away. */
static void place(struct nvmi_log *log, struct nvmi_captured *alias) {
  uintptr_t start = alias->line * NVM_LINE_SIZE;
  if (nvmi_has_unnoted(log->pool))
    cover(log, alias);
  nvmi_handed_own(log->pool, nvmi_captured_offset(log, alias));
  nvmi_line_mark(log->owner, alias->line, alias->mask);
  nvmi_captured_read(alias, (char *)start, start, start + NVM_LINE_SIZE);
  alias->mask = 0;
}

/* No handler may jump out of it: bytes that count as in place must not have an alias any more. */
static void place_each(struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  sigset_t before = nvmi_signals_hold();
  for (size_t i = 0; i < log->alias.count; i++) {
    struct nvmi_captured *alias = nvmi_alias_at(log, i);
    uintptr_t first = alias->line * NVM_LINE_SIZE;
    if (alias->mask && first < end && first + NVM_LINE_SIZE > start)
      place(log, alias);
  }
  nvmi_signals_release(&before);
}

static void lat_show(struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  for (size_t i = 0; i < log->alias.count; i++) {
    const struct nvmi_captured *alias = nvmi_alias_at(log, i);
    uintptr_t first = alias->line * NVM_LINE_SIZE;
    if (first < end && first + NVM_LINE_SIZE > start)
      nvmi_handed_own(log->pool, nvmi_captured_offset(log, alias));
  }
  nvmi_alias_put(log, start, end);
}

static void lat_settle(struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  bool is_long = (end - start) / NVM_LINE_SIZE > log->alias.count;
  if (log->alias.count && (is_long || nvmi_alias_hits(log, start, end)))
    place_each(log, start, end);
}

void nvmi_drain_nothing(struct nvmi_log *log) { (void)log; }

static void alias_bytes(struct nvmi_log *log, uint64_t line, unsigned first, const char *from,
                        size_t size, uint64_t mask) {
  struct nvmi_captured *alias = nvmi_alias_make(log, line);
  memcpy(alias->bytes + first, from, size);
  nvmi_compiler_barrier(); /* a jump out of a signal handler leaves an alias of whole bytes */
  alias->mask |= mask;
}

/* Bytes of `placed` are in place already, and stay there. */
static __attribute__((noinline)) void store_beside(struct nvmi_log *log, uint64_t line,
                                                   unsigned first, const char *from, uint64_t mask,
                                                   uint64_t placed) {
  if (placed == mask) { /* a word in one piece: a handler may jump out of here at any moment */
    memcpy((char *)(line * NVM_LINE_SIZE) + first, from, (size_t)__builtin_popcountll(mask));
    return;
  }
  for (uint64_t left = mask; left; left &= left - 1) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    if (placed >> i & 1)
      ((char *)(line * NVM_LINE_SIZE))[i] = from[i - first];
    else
      alias_bytes(log, line, i, &from[i - first], 1, UINT64_C(1) << i);
  }
}

/* Of members that nobody notes: other threads may store to them meanwhile, so no commit may bring an older value. An
 * abort gives back what they had. */
static __attribute__((noinline)) uint64_t unnoted_at(struct nvmi_log *log, uint64_t line,
                                                     uintptr_t start, uintptr_t end) {
  uint64_t offset = line * NVM_LINE_SIZE - log->pool->header.base;
  uint64_t mask = nvmi_unnoted_in_line(log->pool, offset) & nvmi_line_mask(line, start, end);
  if (mask)
    nvmi_cover(log, start, end);
  return mask;
}

/* Bytes of one line; `from` is the copy of the one at `start`. The thread's table of lines has those that
 * are in place. */
static inline void store_in_line(struct nvmi_log *log, uint64_t line, uintptr_t start,
                                 uintptr_t end, const char *from, bool covers) {
  const struct nvm_line *slot = nvmi_line_slot(log->owner, line);
  uint64_t mask = nvmi_line_mask(line, start, end);
  uint64_t placed = slot->line == line ? mask & ~slot->missing : 0;
  if (NVMI_UNLIKELY(covers))
    placed |= unnoted_at(log, line, start, end);
  unsigned first = (unsigned)(start % NVM_LINE_SIZE);
  if (NVMI_LIKELY(!placed))
    alias_bytes(log, line, first, from, end - start, mask);
  else
    store_beside(log, line, first, from, mask, placed);
}

void nvmi_alias_store(struct nvmi_log *log, char *to, const char *from, size_t size) {
  uintptr_t at = (uintptr_t)to, end = at + size;
  bool covers = nvmi_may_cover(log->pool, size);
  log->owner->aliases |= UINT64_C(1) << log->pool->index;
  for (uintptr_t next; at < end; from += next - at, at = next) {
    next = (at / NVM_LINE_SIZE + 1) * NVM_LINE_SIZE;
    next = next < end ? next : end;
    store_in_line(log, at / NVM_LINE_SIZE, at, next, from, covers);
  }
}

static int by_sequence(const void *a, const void *b) {
  uint64_t x = ((const struct nvmi_captured *)a)->sequence,
           y = ((const struct nvmi_captured *)b)->sequence;
  return x < y ? -1 : x > y;
}

/* Behind the lines of new blocks, which have been captured: where both have a byte the alias is newer.
 * From here on also what is stored to these blocks is aliased. A signal handler finds the values in one of the tables. */
static void lat_capture_rest(struct nvmi_log *log) {
  size_t first = log->alias.first;
  if (!log->alias.count)
    return;
  sigset_t before = nvmi_signals_hold();
  for (size_t i = 0; i < log->alias.count; i++)
    nvmi_alias_at(log, i)->sequence = nvmi_capture_number();
  nvmi_alias_close(log);
  struct nvmi_captured *items = log->captured.items;
  nvmi_sort(items + first, log->captured.count - first, sizeof *items, by_sequence);
  nvmi_handed_add(&log->captured, first);
  nvmi_signals_release(&before);
}

/* The log's own aliases are of locks that it still holds, and stay the last. Nothing is loaded or stored
 * any more: the table need not find them. */
static void lat_unpack(struct nvmi_log *log, struct nvmi_parcel *parcel) {
  nvmi_shadow_unpack(log, parcel);
  log->alias.first = log->captured.count - log->alias.count;
}

/* Bytes of the payload at most; 0: not short. */
static size_t short_size(const struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  uint64_t ranges = 0;
  if (log->owner->handlers_store)
    return 0;
  for (size_t i = 0; i < count; i++)
    ranges |= lines[i].line;
  return ranges & NVMI_RANGE ? 0 : nvmi_short_redo_size(log, lines, count, log->captured.count);
}

static char *encode_captured(const struct nvmi_log *log, char *at, size_t from, size_t to) {
  const struct nvmi_captured *captured = log->captured.items;
  for (size_t i = from; i < to; i++)
    if (NVMI_LIKELY(captured[i].mask)) /* else all of it was dropped (core/alias.h) */
      at = nvmi_encode_line(at, nvmi_captured_offset(log, &captured[i]), captured[i].bytes,
                            captured[i].mask);
  return at;
}

/* False: not of one frame. Of a byte of a new block that is aliased, too, the alias is newer than what is
 * in place. */
static bool commit_short(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  struct nvm_pool *pool = log->pool;
  size_t payload = short_size(log, lines, count);
  if (!payload)
    return false;
  struct nvm_frame *frame = nvmi_short_redo_room(log, payload);
  if (NVMI_UNLIKELY(!frame))
    return false;
  char *end = nvmi_short_redo_operations(log, frame);
  size_t older = log->captured.count - log->alias.count;
  end = encode_captured(log, end, 0, older);
  for (size_t i = 0; i < count; i++) {
    uint64_t offset = (lines[i].line << 6) - pool->header.base;
    end = nvmi_encode_line(end, offset, pool->work + offset, lines[i].mask);
  }
  end = encode_captured(log, end, older, log->captured.count);
  nvmi_step(NVMI_STEP_COMMIT);
  assert((size_t)(end - (char *)(frame + 1)) <= payload);
  uint64_t size = nvmi_short_redo_put(log, frame, (uint64_t)(end - (char *)frame));
  nvmi_redo_store_captured(log);
  for (size_t i = 0; i < count; i++)
    nvmi_direct_item(pool, &lines[i]);
  log->stats.flushed_lines += count;
  nvmi_short_redo_end(log, frame, size);
  return true;
}

static enum nvm_error lat_commit(struct nvmi_log *log, const struct nvmi_line *lines,
                                 size_t count) {
  if (!count && !log->operations.count && !log->captured.count)
    return NVM_OK;
  if (NVMI_LIKELY(commit_short(log, lines, count)))
    return NVM_OK;
  size_t rest;
  nvmi_direct_store(log, lines, count);
  const struct nvmi_line *single = nvmi_direct_rest(log, lines, count, &rest);
  if (single && commit_short(log, single, rest))
    return NVM_OK;
  return nvmi_redo_commit(log, lines, count);
}

/* In the file are only bytes of blocks that were never allocated; the others are in private regions, also those of
 * aliases that were shown. */
static void lat_abort(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  nvmi_alias_close(log);
  nvmi_handed_remove(&log->captured);
  nvmi_shadow_abort(log, lines, count);
}

/* The child gets no mapping (map.c). */
static void lat_before_fork(struct nvm_pool *pool) { (void)pool; }

const struct nvmi_method nvmi_lat = {
    .name = "lat",
    .id = NVM_METHOD_SHADOW, /* its log is the same */
    .private_work = false,
    .note = lat_note,
    .drain = nvmi_drain_nothing,
    .store = nvmi_alias_store,
    .settle = lat_settle,
    .show = lat_show,
    .commit = lat_commit,
    .abort = lat_abort,
    .hand_on = NULL, /* a dependent's values are its own aliases */
    .parcel_lines = nvmi_shadow_parcel_lines,
    .pieces = nvmi_shadow_pieces,
    .capture = nvmi_shadow_capture,
    .capture_rest = lat_capture_rest,
    .pack = nvmi_shadow_pack,
    .unpack = lat_unpack,
    .before_fork = lat_before_fork,
};
