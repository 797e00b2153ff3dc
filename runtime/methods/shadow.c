/* shadow.c: stores go to a private copy; commit writes one record of the changed bytes and fences
 * once, or once more before that, for the bytes of new blocks (straight.h); twice behind it where
 * the record is long.
 *
 * The program's view is a copy-on-write mapping: nothing of what others can reach is stored in the
 * file before the commit record is durable; a new block's bytes may be. Then the same bytes, and no
 * neighbour's, are stored in place, which is not waited for: the thread's next fence covers it, or
 * whoever settles (settle.h), and until then the record would be replayed
 * (docs/internals/crash-consistency.md, S1 to S6). A store that nobody noted is lost at the next
 * opening; NVMOVE_DEBUG=compare finds it.
 */
#define _GNU_SOURCE
#include "base/kill.h"
#include "base/sort.h"
#include "core/follower.h"
#include "core/map.h"
#include "core/piece.h"
#include "core/sealed.h"
#include "heap/heap_types.h"
#include "judge/pointers.h"
#include "log/record.h"
#include "log/settle.h"
#include "methods/methods.h"
#include "methods/shadow_abort.h"
#include "methods/shadow_lines.h"
#include "order/order_join.h"
#include "order/undoing.h"
#include "tx/shrink.h"
#include "tx/straight.h"
#include "types/compare.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void add_to_record(void *record, struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  nvmi_record_line(record, offset, pool->work + offset, mask);
}

/* What signal handlers have stored since the lines were collected; null: not in this pool. */
static const struct nvmi_line *late_item(const struct nvmi_log *log, size_t i) {
  const struct nvmi_line *item = (const struct nvmi_line *)log->owner->nested.items + i;
  return nvmi_pool_at((void *)(nvmi_line_first(item) << 6)) == log->pool ? item : NULL;
}

/* A handler may have stored to lines that are in the record already, or went straight; then all it
 * stored joins them. Gives how many items that are. */
static size_t add_late(struct nvmi_record *record) {
  size_t i = 0;
  for (; NVMI_UNLIKELY(i < record->log->owner->nested.count); i++) {
    const struct nvmi_line *item = late_item(record->log, i);
    if (item)
      nvmi_shadow_each_line(record->log->pool, item, 1, add_to_record, record);
  }
  return i;
}

/* All that the record has is stored in place: a bound may pass it before the next commit. */
static void store_late(const struct nvmi_log *log, size_t late) {
  for (size_t i = 0; NVMI_UNLIKELY(i < late); i++)
    if (late_item(log, i))
      nvmi_straight_item(log->pool, late_item(log, i));
}

static enum nvm_error commit_long(struct nvmi_log *log, const struct nvmi_line *lines,
                                  size_t count);

/* A handler's stores since the record was put together are no part of it, and some may be in place
 * with it. A replay of the record takes those back: so before anything says that it need not be
 * replayed, they become a transaction of their own, whole, as the handler has returned. */
static void commit_behind(struct nvmi_log *log, size_t late) {
  const volatile size_t *stored = &log->owner->nested.count;
  if (NVMI_LIKELY(*stored == late))
    return;
  log->operations.count = 0;
  if (commit_long(log, NULL, 0))
    nvmi_fatal(NVM_ENOSPACE, log->pool->path,
               "no room for what a signal handler stored while a transaction committed");
}

static void store_home(void *unused, struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  (void)unused;
  pool->persist->store_line(pool->home + offset, pool->work + offset, mask);
}

static void count_page(void *unused, struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  (void)unused, (void)mask;
  nvmi_shrink_wrote(pool, offset);
}

static bool is_short(const struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  size_t bytes = NVMI_LINE_PAYLOAD_MAX * count + sizeof(uint64_t) * log->operations.count;
  uint64_t ranges = 0;
  if (bytes > NVMI_PAYLOAD_MAX || log->sealed.count || log->pool->written || log->pool->compare ||
      log->owner->handlers_store || log->intents.has_large)
    return false;
  for (size_t i = 0; i < count; i++)
    ranges |= lines[i].line;
  return !(ranges & NVMI_RANGE);
}

static char *put_operations(const struct nvmi_log *log, char *at) {
  size_t size = log->operations.count * sizeof(uint64_t);
  if (size)
    memcpy(at, log->operations.items, size);
  return at + size;
}

/* The record's frame is put together in the copy, all but its head. Under a number of its own it
 * goes to the log, and is fenced; then the lines are stored in place. Until then the log is
 * announced: no bound passes the record. Also the only log is: who makes a second may settle
 * first. */
static inline __attribute__((always_inline)) void end_short(struct nvmi_log *log,
                                                            struct nvm_frame *frame, uint64_t used,
                                                            const struct nvmi_line *lines,
                                                            size_t count) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_cursor *cursor = log->cursor;
  uint64_t size = (used + NVM_FRAME_ALIGN - 1) & ~(uint64_t)(NVM_FRAME_ALIGN - 1);
  bool solo = nvmi_solo_enter(log);
  uint64_t oldest = atomic_load_explicit(&pool->order, memory_order_relaxed);
  atomic_store_explicit(&log->pending, oldest << 1 | !solo, memory_order_relaxed);
  frame->order = nvmi_log_number(log, solo);
  frame->place = atomic_load_explicit(&pool->bound, memory_order_relaxed);
  frame->transaction = cursor->transaction++ << 16;
  frame->shape = NVM_FRAME_SHAPE(NVM_FRAME_COMMIT | NVM_FRAME_PACKED, log->operations.count,
                                 used - sizeof *frame);
  frame->check = nvmi_check_by(&pool->key, &frame->transaction, used - sizeof frame->check);
  pool->persist->append((char *)cursor->segment + cursor->at, frame, size);
  cursor->at += size;
  log->stats.log_entries++;
  log->stats.log_bytes += size;
  nvmi_step(NVMI_STEP_APPEND);
  /* Crash before this fence: the record is whole or it is not. After: committed. It also covers
   * what the record before stored in place, unless that was put behind. */
  nvmi_record_fence(log, frame->order, solo);
  nvmi_step(NVMI_STEP_COMMIT);
  uint64_t first = pool->header.base >> 6;
  nvmi_log_begin_behind(log);
  for (size_t i = 0; i < count; i++)
    store_home(NULL, pool, (lines[i].line - first) << 6, lines[i].mask);
  log->stats.flushed_lines += count;
  nvmi_apply_operations(log);
  nvmi_log_end_behind(log);
  commit_behind(log, 0);
  nvmi_step(NVMI_STEP_COMMIT);
  nvmi_log_publish(log, frame, size);
  atomic_store_explicit(&log->pending, 0, memory_order_release);
  nvmi_solo_leave(log);
}

/* As shadow_commit, of one frame; the arguments are there. False: not so. */
static inline __attribute__((always_inline)) bool
commit_short(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  struct nvm_pool *pool = log->pool;
  uint64_t first = pool->header.base >> 6;
  if (!(count | log->operations.count) || !is_short(log, lines, count))
    return false;
  size_t size_max = sizeof(struct nvm_frame) + NVMI_LINE_PAYLOAD_MAX * count +
                    sizeof(uint64_t) * log->operations.count + NVM_FRAME_ALIGN;
  struct nvm_frame *frame = nvmi_log_copy_place(log, size_max);
  if (NVMI_UNLIKELY(!frame) &&
      (!nvmi_log_make_room(log, size_max) || !(frame = nvmi_log_copy_place(log, size_max))))
    return false;
  char *end = put_operations(log, (char *)(frame + 1));
  for (size_t i = 0; i < count; i++) {
    uint64_t offset = (lines[i].line - first) << 6;
    end = nvmi_encode_line(end, offset, pool->work + offset, lines[i].mask);
  }
  if (NVMI_UNLIKELY(*(const volatile size_t *)&log->owner->nested.count))
    return false; /* a handler stored meanwhile: a longer record */
  nvmi_step(NVMI_STEP_COMMIT);
  end_short(log, frame, (uint64_t)(end - (char *)frame), lines, count);
  return true;
}

/* The number of a record that did not fit is used up: an empty one takes its place, durable before
 * the next begins, or that would look as if one were missing (log_end.c). It says that the
 * transaction has ended: what a follower has written down for it must be gone before. */
static void say_void(struct nvmi_log *log) {
  struct nvmi_record record;
  if (log->pool->follower)
    log->pool->follower->ended(log, false);
  nvmi_record_begin(&record, log, log->cursor, false);
  if (!nvmi_record_end(&record))
    nvmi_fatal(NVM_ENOSPACE, log->pool->path, "no room in the log for the end of a transaction");
  nvmi_fence(log);
}

static __attribute__((noinline)) enum nvm_error
commit_long(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_record record;
  if (!atomic_load_explicit(&log->pending, memory_order_relaxed) && nvmi_log_is_far(log))
    nvmi_log_turn(log); /* which waits for what is announced */
  nvmi_record_begin(&record, log, log->cursor, true);
  const uint64_t *operation = log->operations.items;
  for (size_t i = 0; i < log->operations.count; i++)
    nvmi_record_operation(&record, operation[i]);
  const struct nvmi_sealed *sealed = log->sealed.items;
  for (size_t i = 0; i < log->sealed.count; i++)
    nvmi_record_line(&record, nvmi_sealed_offset(log, &sealed[i]), sealed[i].bytes, sealed[i].mask);
  for (size_t i = 0, next = 0; i < count; i++) {
    nvmi_straight_fetch(pool, lines, i, count);
    if (!nvmi_straight_went(log, i, &next))
      nvmi_shadow_each_line(pool, &lines[i], 1, add_to_record, &record);
  }
  size_t late = add_late(&record);
  nvmi_check_late(log, 0);
  nvmi_step(NVMI_STEP_COMMIT);
  bool ended = nvmi_record_end(&record);
  if (!ended && !pool->persist->record) /* there the end of the record has said it */
    say_void(log);
  log->cursor->transaction++;
  if (!ended)
    return NVM_ENOSPACE;
  /* Crash before this fence: the record is whole or it is not. After: committed. */
  nvmi_record_fence(log, record.order, record.solo);
  log->bank_tells = true;
  nvmi_record_durable(&record);
  nvmi_step(NVMI_STEP_COMMIT);
  nvmi_log_begin_behind(log);
  for (size_t i = 0; i < log->sealed.count; i++)
    pool->persist->store_line(pool->home + nvmi_sealed_offset(log, &sealed[i]), sealed[i].bytes,
                              sealed[i].mask);
  log->stats.flushed_lines += log->sealed.count;
  log->sealed.count = 0;
  for (size_t i = 0, next = 0; i < count; i++)
    if (!nvmi_straight_went(log, i, &next)) {
      nvmi_straight_item(pool, &lines[i]);
      log->stats.flushed_lines += nvmi_line_count(&lines[i]);
    }
  store_late(log, late);
  nvmi_apply_operations(log);
  bool is_behind = nvmi_log_end_behind(log);
  commit_behind(log, late);
  nvmi_step(NVMI_STEP_COMMIT);
  /* Crash before this fence: the record is replayed, no bound lies above it. After: it is in place.
   * What is put behind is so when it is settled. */
  if (!is_behind)
    nvmi_fence(log);
  atomic_store_explicit(&log->pending, 0, memory_order_release);
  nvmi_solo_leave(log);
  nvmi_step(NVMI_STEP_COMMIT);
  if (NVMI_UNLIKELY(pool->compare))
    nvmi_compare(pool);
  if (NVMI_UNLIKELY(pool->written)) {
    nvmi_shadow_each_line(pool, lines, count, count_page, NULL);
    nvmi_shrink(log);
  }
  return NVM_OK;
}

/* What one frame does not hold, or only when new blocks go straight and ranges are taken apart. */
static __attribute__((noinline)) enum nvm_error
commit_otherwise(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  size_t rest;
  if (!count && !log->operations.count && !log->sealed.count)
    return NVM_OK;
  nvmi_straight_store(log, lines, count);
  const struct nvmi_line *single = nvmi_straight_rest(log, lines, count, &rest);
  if (single && commit_short(log, single, rest))
    return NVM_OK;
  return commit_long(log, lines, count);
}

static enum nvm_error shadow_commit(struct nvmi_log *log, const struct nvmi_line *lines,
                                    size_t count) {
  return NVMI_LIKELY(commit_short(log, lines, count)) ? NVM_OK
                                                      : commit_otherwise(log, lines, count);
}

/* Nobody has taken over what was sealed: in the file is what was there before. */
static void abort_alone(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  const struct nvmi_sealed *sealed = log->sealed.items;
  for (size_t i = 0; i < log->sealed.count; i++)
    nvmi_shadow_fetch_home(NULL, log->pool, nvmi_sealed_offset(log, &sealed[i]), sealed[i].mask);
  log->sealed.count = 0;
  nvmi_shadow_each_line(log->pool, lines, count, nvmi_shadow_fetch_home, NULL);
}

static void shadow_abort(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  if (NVMI_UNLIKELY(log->owner->ticket != NULL))
    nvmi_shadow_abort_among_others(log, lines, count);
  else
    abort_alone(log, lines, count);
}

static void shadow_parcel_lines(const struct nvmi_parcel *parcel, struct nvmi_masks *lines) {
  const struct nvmi_sealed *sealed = parcel->sealed.items;
  for (size_t i = 0; i < parcel->sealed.count; i++)
    nvmi_masks_add(lines, sealed[i].line, sealed[i].mask);
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

static bool shadow_pieces(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                          struct nvmi_array *list) {
  struct pieces pieces = {.list = list, .all = log->sealed.count};
  const struct nvmi_sealed *sealed = log->sealed.items;
  for (size_t i = 0; i < log->sealed.count; i++)
    add_words(&pieces, log->pool, nvmi_sealed_offset(log, &sealed[i]), sealed[i].bytes,
              sealed[i].mask);
  nvmi_shadow_each_line(log->pool, lines, count, add_line, &pieces);
  return !pieces.incomplete;
}

static void shadow_seal(struct nvmi_log *log, const struct nvmi_line *line) {
  static _Atomic uint64_t sequence;
  bool is_range = line->line & NVMI_RANGE;
  for (uint64_t i = 0; i < nvmi_line_count(line); i++) {
    struct nvmi_sealed sealed = {.line = nvmi_line_first(line) + i,
                                 .mask = is_range ? UINT64_MAX : line->mask,
                                 .sequence = atomic_fetch_add(&sequence, 1)};
    memcpy(sealed.bytes, (void *)(sealed.line << 6), sizeof sealed.bytes);
    if (!nvmi_array_push(&log->sealed, &sealed, sizeof sealed))
      nvmi_fatal(NVM_ENOMEMORY, log->pool->path, "out of memory for sealed lines");
  }
}

/* All is sealed. */
static void shadow_pack(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                        struct nvmi_parcel *parcel) {
  (void)lines, (void)count;
  parcel->sealed = log->sealed;
  log->sealed = (struct nvmi_array){0};
}

static int by_sequence(const void *a, const void *b) {
  uint64_t x = ((const struct nvmi_sealed *)a)->sequence,
           y = ((const struct nvmi_sealed *)b)->sequence;
  return x < y ? -1 : x > y;
}

static void shadow_unpack(struct nvmi_log *log, struct nvmi_parcel *parcel) {
  for (size_t i = 0; i < parcel->sealed.count; i++)
    if (!nvmi_array_push(&log->sealed, (struct nvmi_sealed *)parcel->sealed.items + i,
                         sizeof(struct nvmi_sealed)))
      nvmi_fatal(NVM_ENOMEMORY, log->pool->path, "out of memory for sealed lines");
  nvmi_array_free(&parcel->sealed, sizeof(struct nvmi_sealed));
  if (log->sealed.count)
    nvmi_sort(log->sealed.items, log->sealed.count, sizeof(struct nvmi_sealed), by_sequence);
}

_Static_assert(sizeof(struct nvmi_sealed) <= NVMI_SORT_BYTES, "sealed lines can be sorted");

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
    .abort = shadow_abort,
    .hand_on = NULL, /* bytes come back from the others' sealed lines and the file */
    .parcel_lines = shadow_parcel_lines,
    .pieces = shadow_pieces,
    .seal = shadow_seal,
    .pack = shadow_pack,
    .unpack = shadow_unpack,
    .before_fork = shadow_before_fork,
};
