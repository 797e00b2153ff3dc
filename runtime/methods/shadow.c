/* shadow.c: stores go to a private copy; commit writes one record of the changed bytes and fences
 * once, or once more before that, for the bytes of new blocks (direct.h); twice behind it where
 * the record is long.
 *
 * The program's view is a copy-on-write mapping: nothing of what others can reach is stored in the
 * file before the commit record is durable; a new block's bytes may be. Then the same bytes, and no
 * neighbour's, are stored in place, which is not waited for: the thread's next fence covers it, or
 * the next checkpoint (checkpoint.h), and until then the record would be replayed
 * (docs/internals/crash-consistency.md, S1 to S6). A store that nobody noted is lost at the next
 * opening; NVMOVE_DEBUG=compare finds it.
 */
#define _GNU_SOURCE
#include "methods/shadow.h"

#include "base/sort.h"
#include "core/captured.h"
#include "core/follower.h"
#include "core/map.h"
#include "core/piece.h"
#include "heap/heap_types.h"
#include "judge/pointers.h"
#include "log/checkpoint.h"
#include "log/record.h"
#include "methods/methods.h"
#include "methods/redo_commit.h"
#include "methods/shadow_abort.h"
#include "methods/shadow_lines.h"
#include "order/order_join.h"
#include "order/undoing.h"
#include "tx/direct.h"
#include "types/compare.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static inline void store_home(const struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  pool->persist->store_line(pool->home + offset, pool->work + offset, mask);
}

/* Bytes of the payload at most; 0: not short. */
static inline size_t short_size(const struct nvmi_log *log, const struct nvmi_line *lines,
                                size_t count) {
  uint64_t ranges = 0;
  if (log->captured.count || log->pool->written || log->pool->compare ||
      log->owner->handlers_store || log->intents.has_large)
    return 0;
  for (size_t i = 0; i < count; i++)
    ranges |= lines[i].line;
  return ranges & NVMI_RANGE ? 0 : nvmi_short_redo_size(log, lines, count, 0);
}

/* As shadow_commit, of one frame; the arguments are there. False: not so. */
static inline __attribute__((always_inline)) bool
commit_short(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  struct nvm_pool *pool = log->pool;
  uint64_t first = pool->header.base >> 6;
  size_t payload = short_size(log, lines, count);
  if (!payload)
    return false;
  struct nvm_frame *frame = nvmi_short_redo_room(log, payload);
  if (NVMI_UNLIKELY(!frame))
    return false;
  char *end = nvmi_short_redo_operations(log, frame);
  for (size_t i = 0; i < count; i++) {
    uint64_t offset = (lines[i].line - first) << 6;
    end = nvmi_encode_line(end, offset, pool->work + offset, lines[i].mask);
  }
  if (NVMI_UNLIKELY(*(const volatile size_t *)&log->owner->nested.count))
    return false; /* a handler stored meanwhile: a longer record */
  nvmi_step(NVMI_STEP_COMMIT);
  assert((size_t)(end - (char *)(frame + 1)) <= payload);
  uint64_t size = nvmi_short_redo_put(log, frame, (uint64_t)(end - (char *)frame));
  for (size_t i = 0; i < count; i++)
    store_home(pool, (lines[i].line - first) << 6, lines[i].mask);
  log->stats.flushed_lines += count;
  nvmi_short_redo_end(log, frame, size);
  return true;
}

/* What one frame does not hold, or only when new blocks go directly and ranges are taken apart. */
static __attribute__((noinline)) enum nvm_error
commit_otherwise(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  size_t rest;
  if (!count && !log->operations.count && !log->captured.count)
    return NVM_OK;
  nvmi_direct_store(log, lines, count);
  const struct nvmi_line *single = nvmi_direct_rest(log, lines, count, &rest);
  if (single && commit_short(log, single, rest))
    return NVM_OK;
  return nvmi_redo_commit(log, lines, count);
}

static enum nvm_error shadow_commit(struct nvmi_log *log, const struct nvmi_line *lines,
                                    size_t count) {
  return NVMI_LIKELY(commit_short(log, lines, count)) ? NVM_OK
                                                      : commit_otherwise(log, lines, count);
}

/* Nobody has taken over what was captured: in the file is what was there before. */
static void abort_alone(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  const struct nvmi_captured *captured = log->captured.items;
  for (size_t i = 0; i < log->captured.count; i++)
    nvmi_shadow_fetch_home(NULL, log->pool, nvmi_captured_offset(log, &captured[i]),
                           captured[i].mask);
  log->captured.count = 0;
  nvmi_shadow_each_line(log->pool, lines, count, nvmi_shadow_fetch_home, NULL);
  nvmi_shadow_uncover(log);
}

void nvmi_shadow_abort(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  if (NVMI_UNLIKELY(log->owner->node != NULL))
    nvmi_shadow_abort_among_others(log, lines, count);
  else
    abort_alone(log, lines, count);
}

void nvmi_shadow_parcel_lines(const struct nvmi_parcel *parcel, struct nvmi_masks *lines) {
  const struct nvmi_captured *captured = parcel->captured.items;
  for (size_t i = 0; i < parcel->captured.count; i++)
    nvmi_masks_add(lines, captured[i].line, captured[i].mask);
}

struct pieces {
  struct nvmi_array *list;
  bool all; /* of a line there may be several: one may take back what another did */
  bool incomplete;
};

static void add_words(struct pieces *pieces, const struct nvm_pool *pool, uint64_t offset,
                      const char *bytes, uint64_t mask) {
  for (unsigned word = 0; word < 8; word++) {
    uint64_t known, value, bits = 0, own = mask >> 8 * word & 0xff;
    if (!own) /* another thread may be storing there */
      continue;
    for (unsigned byte = 0; byte < 8; byte++)
      if (own >> byte & 1)
        bits |= UINT64_C(0xff) << 8 * byte;
    memcpy(&known, pool->home + offset + 8 * word, sizeof known);
    memcpy(&value, bytes + 8 * word, sizeof value);
    if ((pieces->all || ((known ^ value) & bits)) &&
        !nvmi_piece_add(pieces->list, offset + 8 * word, known, value, bits, pieces->list->count))
      pieces->incomplete = true;
  }
}

static void add_line(void *pieces, struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  add_words(pieces, pool, offset, pool->work + offset, mask);
}

static void add_captured(struct pieces *pieces, const struct nvmi_log *log, size_t from,
                         size_t to) {
  const struct nvmi_captured *captured = log->captured.items;
  for (size_t i = from; i < to; i++)
    add_words(pieces, log->pool, nvmi_captured_offset(log, &captured[i]), captured[i].bytes,
              captured[i].mask);
}

bool nvmi_shadow_pieces(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                        struct nvmi_array *list) {
  struct pieces pieces = {.list = list, .all = log->captured.count};
  size_t older = log->captured.count - log->alias.count; /* than the lines; aliases are newer */
  add_captured(&pieces, log, 0, older);
  nvmi_shadow_each_line(log->pool, lines, count, add_line, &pieces);
  add_captured(&pieces, log, older, log->captured.count);
  return !pieces.incomplete;
}

void nvmi_shadow_capture(struct nvmi_log *log, const struct nvmi_line *line) {
  bool is_range = line->line & NVMI_RANGE;
  for (uint64_t i = 0; i < nvmi_line_count(line); i++) {
    struct nvmi_captured captured = {.line = nvmi_line_first(line) + i,
                                     .mask = is_range ? UINT64_MAX : line->mask,
                                     .sequence = nvmi_capture_number()};
    memcpy(captured.bytes, (void *)(captured.line << 6), sizeof captured.bytes);
    if (!nvmi_array_push(&log->captured, &captured, sizeof captured))
      nvmi_fatal(NVM_ENOMEMORY, log->pool->path, "out of memory for captured lines");
  }
}

/* All is captured. */
void nvmi_shadow_pack(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                      struct nvmi_parcel *parcel) {
  (void)lines, (void)count;
  parcel->captured = log->captured;
  parcel->covered = log->covered;
  log->captured = log->covered = (struct nvmi_array){0};
}

static int by_sequence(const void *a, const void *b) {
  uint64_t x = ((const struct nvmi_captured *)a)->sequence,
           y = ((const struct nvmi_captured *)b)->sequence;
  return x < y ? -1 : x > y;
}

static void merge(struct nvmi_log *log, struct nvmi_array *into, struct nvmi_array *from) {
  if (!from->count)
    return;
  for (size_t i = 0; i < from->count; i++)
    if (!nvmi_array_push(into, (struct nvmi_captured *)from->items + i,
                         sizeof(struct nvmi_captured)))
      nvmi_fatal(NVM_ENOMEMORY, log->pool->path, "out of memory for captured lines");
  nvmi_array_free(from, sizeof(struct nvmi_captured));
  nvmi_sort(into->items, into->count, sizeof(struct nvmi_captured), by_sequence);
}

void nvmi_shadow_unpack(struct nvmi_log *log, struct nvmi_parcel *parcel) {
  merge(log, &log->captured, &parcel->captured);
  merge(log, &log->covered, &parcel->covered);
}

_Static_assert(sizeof(struct nvmi_captured) <= NVMI_SORT_BYTES, "captured lines can be sorted");

static void make_private(void *unused, struct nvm_pool *pool, uint32_t chunk, uint32_t count) {
  (void)unused;
  nvmi_map_own(pool->work + nvmi_chunk_offset(pool, chunk), (uint64_t)count << NVM_CHUNK_SHIFT);
}

/* A page of a private mapping that nobody wrote yet still shows the file, also in a child: later
 * commits of the parent would change the child's snapshot. So each page gets its private copy
 * first. */
static void shadow_before_fork(struct nvm_pool *pool) {
  nvmi_heap_read_all(pool);
  nvmi_map_own(pool->work + NVM_ROOT_OFFSET, 4096);
  nvmi_heap_each_run(pool, make_private, NULL);
}

const struct nvmi_method nvmi_shadow = {
    .name = "shadow",
    .id = NVM_METHOD_SHADOW,
    .private_work = true,
    .note = NULL, /* the list of lines is all that commit needs */
    .commit = shadow_commit,
    .abort = nvmi_shadow_abort,
    .hand_on = NULL, /* bytes come back from the others' captured lines and the file */
    .parcel_lines = nvmi_shadow_parcel_lines,
    .pieces = nvmi_shadow_pieces,
    .capture = nvmi_shadow_capture,
    .pack = nvmi_shadow_pack,
    .unpack = nvmi_shadow_unpack,
    .before_fork = shadow_before_fork,
};
