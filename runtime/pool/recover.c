/* recover.c: replays what committed, undoes what did not.
 *
 * Reads every bank of every log: with undo the frames of its newest transaction, with shadow all. A
 * transaction with a whole commit record is replayed if its order is not below the highest bound
 * (or the floor); one without is undone. Replay goes forwards by order, undo backwards, over all
 * logs. All stores are made through `home`; a private view of the file has no pages of its own yet.
 *
 * A process that was killed has left words that it stored and had not flushed. They are seen here;
 * a power failure takes them away. So all that is relied on is made durable before anything is
 * stored: the frames, the bytes that a whole transaction's entries cover, which are in place, and
 * the tables (flush_tables). Crash before that fence: nothing has changed. After: every step stores
 * bytes taken from the log, and the log stays until the generation grows, so the same again.
 */
#include "pool/recover.h"
#include "log/log_end.h"
#include "platform/domain.h"
#include "pool/recover_cut.h"

#include "base/checksum.h"
#include "base/kill.h"
#include "gc/counts.h"
#include "heap/heap_types.h"
#include "log/redo.h"

#include <stdlib.h>
#include <string.h>

static const struct nvm_frame **items(const struct nvmi_array *list) { return list->items; }

struct scan {
  const struct nvm_pool *pool;
  uint64_t transaction; /* newest seen so far */
  bool packed;
  bool incomplete; /* out of memory */
  struct nvmi_array *found;
  uint64_t *bound;
};

/* A bound that is told was true before, and stays so: each frame that checks says it, also of a record that
 * was torn, and of a transaction that others have followed (R1). */
static void raise_bound(uint64_t *bound, const struct nvm_frame *frame) {
  unsigned kind = NVM_FRAME_KIND(frame);
  if (kind != NVM_FRAME_UNDO && kind != NVM_FRAME_RETIRED && frame->bound > *bound)
    *bound = frame->bound;
}

/* Tries every line: an unfinished frame does not hide those behind it. A frame of the newest
 * transaction hides nothing, so its payload is skipped. */
static void scan_segment(void *context, const struct nvm_segment *segment) {
  struct scan *scan = context;
  uint64_t at = sizeof *segment;
  while (at < segment->size) {
    const struct nvm_frame *frame = (const void *)((const char *)segment + at);
    uint64_t transaction = frame->transaction >> 16;
    bool checks = NVM_FRAME_IS_PACKED(frame) == scan->packed && transaction &&
                  nvmi_frame_valid(scan->pool, frame, segment->size - at);
    if (checks)
      raise_bound(scan->bound, frame);
    if (!checks || (!scan->packed && transaction < scan->transaction)) {
      at += NVM_FRAME_ALIGN;
      continue;
    }
    if (transaction != scan->transaction && !scan->packed)
      scan->found->count = 0;
    scan->transaction = transaction;
    if (!nvmi_array_push(scan->found, &frame, sizeof frame))
      scan->incomplete = true;
    at += (sizeof *frame + NVM_FRAME_LENGTH(frame) + NVM_FRAME_ALIGN - 1) &
          ~(uint64_t)(NVM_FRAME_ALIGN - 1);
  }
}

struct work {
  struct nvmi_array redo, undo; /* const struct nvm_frame * */
  uint64_t bound, end; /* records with numbers from the one to below the other are replayed */
  bool is_delayed;     /* NVM_LOG_FORMAT_DELAYED */
  struct nvmi_cut cut;
  bool incomplete; /* out of memory */
  bool damaged;    /* frames that were durable are missing */
};

/* Whether the bytes that the undo entries cover are those that a checked commit summed up. */
static bool data_arrived(const struct nvm_pool *pool, const struct nvmi_array *found,
                         const struct nvm_frame *commit) {
  uint64_t sum = 0, wanted;
  if (NVM_FRAME_LENGTH(commit) < sizeof wanted)
    return false;
  memcpy(&wanted, (const char *)(commit + 1) + NVM_FRAME_LENGTH(commit) - sizeof wanted,
         sizeof wanted);
  for (size_t i = 0; i < found->count; i++) {
    const struct nvm_frame *frame = items(found)[i];
    if (NVM_FRAME_KIND(frame) != NVM_FRAME_UNDO)
      continue;
    if (!nvmi_in_view(pool, frame->offset, NVM_FRAME_LENGTH(frame)))
      return false;
    sum = nvmi_check_add(
        sum, nvmi_check_by(&pool->key, pool->home + frame->offset, NVM_FRAME_LENGTH(frame)));
  }
  return sum == wanted;
}

/* Whether the transaction has ended without effect: an abort, perhaps of a record that did not fit. */
static bool is_void(const struct nvm_frame *commit) {
  return !commit->order || NVM_FRAME_KIND(commit) == NVM_FRAME_VOID;
}

/* The commit record of a bank's frames, when it is whole and counts. `is_last`: the log has no
 * newer transaction, whose existence would prove that this one committed. */
static const struct nvm_frame *whole_record(const struct nvm_pool *pool,
                                            const struct nvmi_array *found, bool is_last) {
  const struct nvm_frame *commit = NULL;
  uint64_t parts = 0;
  bool retired = false;
  for (size_t i = 0; i < found->count; i++) {
    unsigned kind = NVM_FRAME_KIND(items(found)[i]);
    if (kind == NVM_FRAME_COMMIT || kind == NVM_FRAME_COMMIT_CHECKED || kind == NVM_FRAME_VOID)
      commit = items(found)[i];
    parts += kind == NVM_FRAME_REDO;
    retired = retired || kind == NVM_FRAME_RETIRED;
  }
  if (commit && is_void(commit))
    return commit; /* nothing to replay */
  bool checked = commit && NVM_FRAME_KIND(commit) == NVM_FRAME_COMMIT_CHECKED;
  if (!commit || parts != (checked ? 0 : NVM_FRAME_COUNT(commit)))
    return NULL;
  if (!checked || retired || !is_last)
    return commit;
  return data_arrived(pool, found, commit) ? commit : NULL;
}

/* Whether a bank's frames were written after the transaction before theirs had ended: all but those
 * that a signal handler put during its commit. */
static bool proves_end_of_other(const struct nvmi_array *found) {
  for (size_t i = 0; i < found->count; i++) {
    const struct nvm_frame *frame = items(found)[i];
    if (NVM_FRAME_KIND(frame) != NVM_FRAME_UNDO || NVM_FRAME_OPERATIONS(frame) & NVM_UNDO_NEXT)
      return true;
  }
  return false;
}

/* Of a transaction that committed with undo the new bytes are in place. */
static void flush_found(const struct nvm_pool *pool, const struct nvm_frame *frame,
                        bool committed) {
  pool->persist->flush(frame, sizeof *frame + NVM_FRAME_LENGTH(frame));
  if (committed && NVM_FRAME_KIND(frame) == NVM_FRAME_UNDO &&
      nvmi_in_view(pool, frame->offset, NVM_FRAME_LENGTH(frame)))
    pool->persist->flush(pool->home + frame->offset, NVM_FRAME_LENGTH(frame));
}

/* `ended`: the log's next transaction had begun. What lacks its commit record then lost it to a
 * torn frame of the transaction after that one, in the same bank: it is not undone. */
static void add_bank(struct nvm_pool *pool, struct work *work, const struct nvmi_array *found,
                     bool ended) {
  const struct nvm_frame *commit = whole_record(pool, found, !ended);
  if (!commit && !ended && !nvmi_entries_complete(found))
    work->damaged = true;
  for (size_t i = 0; i < found->count; i++) {
    const struct nvm_frame *frame = items(found)[i];
    unsigned kind = NVM_FRAME_KIND(frame);
    bool is_undo = kind == NVM_FRAME_UNDO;
    flush_found(pool, frame, commit);
    if (kind == NVM_FRAME_RETIRED || (commit ? is_undo || is_void(commit) : !is_undo || ended))
      continue;
    if (!nvmi_array_push(is_undo ? &work->undo : &work->redo, &frame, sizeof frame))
      work->incomplete = true;
  }
}

/* For who counts references: the number of the newest transaction that has ended, as this bank
 * tells. One of which the bank has no more than a beginning proves that the one before has. */
static uint64_t newest_ended(const struct nvm_pool *pool, const struct nvmi_array *found,
                             uint64_t transaction, bool ended) {
  if (!found->count || ended || whole_record(pool, found, true))
    return transaction;
  return transaction - (proves_end_of_other(found) ? 1 : 2);
}

static int by_transaction(const void *a, const void *b) {
  uint64_t x = (*(const struct nvm_frame *const *)a)->transaction >> 16,
           y = (*(const struct nvm_frame *const *)b)->transaction >> 16;
  return x < y ? -1 : x > y;
}

/* Where commits did not wait, a record counts only if all before it are there. */
static void add_number(const struct nvm_pool *pool, struct work *work,
                       const struct nvmi_array *found, unsigned slot) {
  const struct nvm_frame *commit = whole_record(pool, found, true);
  if (commit && commit->order &&
      !nvmi_cut_add(&work->cut, commit->order, slot, commit->transaction >> 16))
    work->incomplete = true;
}

/* A bank of the shadow method: whatever whole records lie there. Those of an earlier pass through
 * it have orders below a bound that a newer record tells (crash-consistency.md, S3). */
static bool read_packed(struct nvm_pool *pool, struct work *work, unsigned slot, unsigned bank,
                        struct nvmi_records_end *end_of_bank) {
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  struct nvmi_array found = {0};
  struct scan scan = {.pool = pool, .packed = true, .found = &found, .bound = &work->bound};
  bool sound = nvmi_each_segment(pool, slot, bank, scan_segment, &scan);
  work->incomplete = work->incomplete || scan.incomplete;
  if (found.count)
    qsort(found.items, found.count, sizeof(void *), by_transaction);
  for (size_t i = 0, end; i < found.count && sound; i = end) {
    uint64_t transaction = items(&found)[i]->transaction >> 16;
    for (end = i; end < found.count && items(&found)[end]->transaction >> 16 == transaction;)
      end++;
    struct nvmi_array record = {.items = items(&found) + i, .count = end - i};
    add_bank(pool, work, &record, false);
    if (work->is_delayed)
      add_number(pool, work, &record, slot);
    else if (pool->counts)
      nvmi_counts_ended(pool, slot, newest_ended(pool, &record, transaction, false));
  }
  *end_of_bank = nvmi_records_end(&found, (const void *)(pool->home + slots[slot].bank[bank]));
  nvmi_array_free(&found, sizeof(void *));
  return sound;
}

/* Both banks of the shadow method. Of the one that is not in use what is missing was overwritten,
 * or is below a bound. */
static bool read_both_packed(struct nvm_pool *pool, struct work *work, unsigned slot) {
  struct nvmi_records_end ends[2];
  if (!read_packed(pool, work, slot, 0, &ends[0]) || !read_packed(pool, work, slot, 1, &ends[1]))
    return false;
  work->damaged = work->damaged || (!work->is_delayed && !nvmi_records_complete(ends));
  return true;
}

/* Whether the record that a log's newest transaction follows is where it has to be: behind it nothing was
 * written to that bank yet. Without that record its operations, and the bound that it told, are missing. */
static bool follows_a_record(const struct nvm_pool *pool, const struct nvmi_array *newer,
                             const struct nvmi_array *older, uint64_t number,
                             uint64_t number_before) {
  return number <= 1 || !proves_end_of_other(newer) || whole_record(pool, newer, true) ||
         (number_before == number - 1 && whole_record(pool, older, false));
}

/* Both banks of a log of the undo method: the newest transaction of each. */
static bool read_newest(struct nvm_pool *pool, struct work *work, unsigned slot) {
  struct nvmi_array found[2] = {{0}, {0}};
  uint64_t newest[2];
  bool sound = true;
  for (unsigned bank = 0; bank < 2; bank++) {
    struct scan scan = {
        .pool = pool, .transaction = 1, .found = &found[bank], .bound = &work->bound};
    sound = nvmi_each_segment(pool, slot, bank, scan_segment, &scan) && sound;
    newest[bank] = found[bank].count ? scan.transaction : 0;
    work->incomplete = work->incomplete || scan.incomplete;
  }
  unsigned newer = newest[1] > newest[0];
  if (!follows_a_record(pool, &found[newer], &found[!newer], newest[newer], newest[!newer]))
    work->damaged = true;
  for (unsigned bank = 0; bank < 2 && sound; bank++) {
    bool ended = newest[!bank] > newest[bank] && proves_end_of_other(&found[!bank]);
    add_bank(pool, work, &found[bank], ended);
    if (pool->counts)
      nvmi_counts_ended(pool, slot, newest_ended(pool, &found[bank], newest[bank], ended));
  }
  nvmi_array_free(&found[0], sizeof(void *));
  nvmi_array_free(&found[1], sizeof(void *));
  return sound;
}

/* What either method wrote: one bank has frames of one of them only. */
static bool read_log(struct nvm_pool *pool, struct work *work, unsigned slot) {
  return read_newest(pool, work, slot) && read_both_packed(pool, work, slot);
}

static bool apply(struct nvm_pool *pool, struct work *work) {
  nvmi_frames_sort(&work->redo);
  nvmi_frames_sort(&work->undo);
  for (size_t i = 0; i < work->redo.count; i++) {
    if (items(&work->redo)[i]->order < work->bound || items(&work->redo)[i]->order >= work->end)
      continue;
    if (!nvmi_redo_frame(pool, items(&work->redo)[i]))
      return false;
    pool->recovered_redone++;
    nvmi_step(NVMI_STEP_RECOVER);
  }
  for (size_t i = work->undo.count; i-- > 0;) {
    if (!nvmi_undo_frame(pool, items(&work->undo)[i]))
      return false;
    pool->recovered_undone++;
    nvmi_step(NVMI_STEP_RECOVER);
  }
  return true;
}

/* A run's first line links it to the next of its kind. */
static void flush_run(const struct nvm_pool *pool, uint32_t chunk, uint64_t word) {
  if ((word & 0xff) == NVM_CHUNK_LOG || (word & 0xff) == NVM_CHUNK_STATICS)
    pool->persist->flush(pool->home + nvmi_chunk_offset(pool, chunk), NVM_LINE_SIZE);
}

/* Most lines of these tables are zero, and were never anything else. */
static void flush_used(const struct nvm_pool *pool, const char *from, const char *to) {
  static const char zeros[NVM_LINE_SIZE];
  for (; from < to; from += NVM_LINE_SIZE)
    if (memcmp(from, zeros, NVM_LINE_SIZE) != 0)
      pool->persist->flush(from, NVM_LINE_SIZE);
}

/* Links of logs and of other runs, entries of types, words of chunks. */
static void flush_tables(struct nvm_pool *pool) {
  if (!nvmi_domain_flushes(pool->header.domain))
    return;
  flush_used(pool, pool->home, pool->home + NVM_CHUNKS_OFFSET);
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  uint64_t flushed = 0, line;
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    const uint64_t *at = nvmi_chunk_word(pool, chunk); /* of a table that may be damaged */
    count = *at && *at >> 32 ? (uint32_t)(*at >> 32) : 1;
    count = count < chunks - chunk ? count : chunks - chunk;
    if (*at && (line = (uint64_t)(uintptr_t)at / NVM_LINE_SIZE) != flushed) {
      pool->persist->flush(at, sizeof *at);
      flushed = line;
    }
    flush_run(pool, chunk, *at);
  }
}

/* That a sync had covered is told by the floor's line: none of these may be missing. */
static void cut(struct nvm_pool *pool, struct work *work) {
  const struct nvm_floor *floor = (const void *)(pool->home + NVM_FLOOR_OFFSET);
  if (!work->is_delayed)
    return;
  work->end = nvmi_cut_find(pool, &work->cut, work->bound);
  work->damaged = work->damaged || work->end < floor->durable;
}

/* All that is to be replayed is durable, and about to be in place: none of it may be missing where this
 * recovery is killed, and another follows (D4). Crash before the fence: nothing was replayed. */
static void keep_records(struct nvm_pool *pool, const struct work *work) {
  struct nvm_floor *floor = (void *)(pool->home + NVM_FLOOR_OFFSET);
  if (!work->is_delayed || work->end <= floor->durable)
    return;
  __atomic_store_n(&floor->durable, work->end, __ATOMIC_RELAXED);
  pool->persist->flush(floor, sizeof *floor);
  pool->persist->fence();
}

int nvmi_recover(struct nvm_pool *pool, bool leaves_out) {
  struct work work = {.end = UINT64_MAX,
                      .is_delayed = pool->header.log_format == NVM_LOG_FORMAT_DELAYED};
  const struct nvm_floor *floor = (const void *)(pool->home + NVM_FLOOR_OFFSET);
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  work.bound = floor->order;
  bool sound = true;
  for (unsigned slot = 0; slot < NVM_SLOTS_MAX && slots[slot].bank[0] && sound; slot++)
    sound = read_log(pool, &work, slot);
  work.damaged = work.damaged || !nvmi_logs_complete(pool);
  cut(pool, &work);
  flush_tables(pool);
  pool->persist->fence();
  sound = sound && !work.incomplete && (leaves_out || !work.damaged);
  if (sound)
    keep_records(pool, &work);
  sound = sound && apply(pool, &work);
  /* Crash before this fence: the same again. After: the header may move on. */
  pool->persist->fence();
  if (work.is_delayed && pool->order < work.end)
    pool->order =
        work.end; /* the next generation's numbers lie behind all that was replayed (D2) */
  nvmi_array_free(&work.redo, sizeof(void *));
  nvmi_array_free(&work.undo, sizeof(void *));
  nvmi_cut_free(&work.cut);
  if (sound)
    return 0;
  if (work.incomplete) /* nothing was changed yet */
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for recovery; open it again");
  return nvmi_fail(NVM_ECORRUPT, pool->path, "the log is damaged; " NVMI_REPAIR_HINT);
}
