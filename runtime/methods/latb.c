/* latb.c: the Local Alias Table, batched (the SCM paper, section III.B): copies of old values without a
 * fence for each store, new values aliased until many of them go in place behind one fence.
 *
 * It is `undo` with the alias table in front. A store of up to 8 bytes appends an UNDO frame of the old
 * bytes, which nobody waits for, and puts the new bytes into the alias table (core/alias.h). Flush: one
 * fence for all frames so far, then the aliased bytes are stored in place. The table is flushed when it
 * has LINES_MAX lines, when a block is read that has bytes in it, when a lock is released, and at the
 * commit. So a loop over a structure reads memory and does not put it together from the table. A
 * longer store is copied on write: the table is flushed, the old bytes are fenced, the new ones go in
 * place (docs/internals/crash-consistency.md, L5 and L6).
 *
 * A program whose loads and stores come as calls (--nvmove-redirect) also has accesses in place: by pre-compiled
 * functions, and atomic ones. In front of them the table is flushed if it has a part of the bytes; a store has
 * frames of the old bytes, which are fenced.
 *
 * What it does not do: plain stores of other programs are refused. Plain loads see what has been flushed.
 */
#include "base/kill.h"
#include "base/signals.h"
#include "core/alias.h"
#include "core/lines.h"
#include "log/entry.h"
#include "methods/lat.h"
#include "methods/methods.h"
#include "methods/undo.h"
#include "methods/undo_own.h"

#include <pthread.h>
#include <string.h>

enum {
  LINES_MAX = 64,              /* 4 KiB of values: the table stays within the first-level cache */
  VALUE_MAX = sizeof(uint64_t) /* bytes; a longer store is of several values */
};

/* Bytes of the line that the open transaction has stored in place. */
static uint64_t placed(const struct nvmi_log *log, uint64_t line) {
  const struct nvm_line *slot = nvmi_line_slot(log->owner, line);
  return slot->line == line ? ~slot->missing : 0;
}

/* Crash before the fence: nothing is in place. After: the frames are durable, and whatever part of the
 * new bytes is in place is undone. No handler may jump out of it: bytes that count as in place must not
 * have an alias any more (L6). */
static void flush(struct nvmi_log *log) {
  if (!log->alias.count)
    return;
  sigset_t before = nvmi_signals_hold();
  nvmi_fence_entries(log);
  nvmi_step(NVMI_STEP_COMMIT);
  for (size_t i = 0; i < log->alias.count; i++) {
    const struct nvmi_captured *alias = nvmi_alias_at(log, i);
    nvmi_line_mark(log->owner, alias->line, alias->mask);
    nvmi_captured_read(alias, (char *)(alias->line * NVM_LINE_SIZE), alias->line * NVM_LINE_SIZE,
                       (alias->line + 1) * NVM_LINE_SIZE);
  }
  nvmi_alias_clear(log);
  nvmi_signals_release(&before);
}

/* A frame of the old bytes, those between the first and the last that are news to the transaction. The
 * others between them have a frame, or are of a block that it allocated. */
static void copy_old(struct nvmi_log *log, uint64_t line, uint64_t news) {
  unsigned first = (unsigned)__builtin_ctzll(news);
  nvmi_undo_note(log, (const void *)(line * NVM_LINE_SIZE + first),
                 64 - (unsigned)__builtin_clzll(news) - first);
}

static void store_value(struct nvmi_log *log, char *to, const char *from, size_t size) {
  uintptr_t start = (uintptr_t)to, end = start + size;
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++) {
    const struct nvmi_captured *alias = nvmi_alias_find(log, line);
    uint64_t news = nvmi_line_mask(line, start, end) & ~placed(log, line);
    news &= alias ? ~alias->mask : UINT64_MAX;
    if (news)
      copy_old(log, line, news);
  }
  nvmi_alias_store(log, to, from, size);
  if (log->alias.count >= LINES_MAX)
    flush(log);
}

static void store_block(struct nvmi_log *log, char *to, const char *from, size_t size) {
  uintptr_t start = (uintptr_t)to, end = start + size;
  flush(log);
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++) {
    uint64_t news = nvmi_line_mask(line, start, end) & ~placed(log, line);
    if (news)
      copy_old(log, line, news);
  }
  nvmi_fence_entries(log);
  nvmi_lines_mark(log->owner, start, end);
  memcpy(to, from, size);
}

static void latb_store(struct nvmi_log *log, char *to, const char *from, size_t size) {
  if (size <= VALUE_MAX)
    store_value(log, to, from, size);
  else
    store_block(log, to, from, size);
}

/* A flush of the whole table costs little more than that of a line. */
static void latb_settle(struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  bool is_long = (end - start) / NVM_LINE_SIZE > LINES_MAX;
  if (log->alias.count && (is_long || nvmi_alias_hits(log, start, end)))
    flush(log);
}

/* Each alias has its frame already. A flush stores the same once more. */
static void latb_show(struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  if (!log->alias.count)
    return;
  log->pool->persist->fence();
  nvmi_alias_put(log, start, end);
}

/* Of what a redirected program stores in place: as with `undo`, behind the flush of `settle`. */
static void latb_note(struct nvmi_log *log, const void *address, size_t size) {
  nvmi_refuse_plain_store(log);
  nvmi_undo_note(log, address, size);
}

static void latb_abort(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  nvmi_alias_clear(log);
  nvmi_undo_abort(log, lines, count);
}

const struct nvmi_method nvmi_latb = {
    .name = "latb",
    .id = NVM_METHOD_UNDO, /* its log is the same */
    .private_work = false,
    .entries = true,
    .note = latb_note,
    .drain = nvmi_fence_entries,
    .store = latb_store,
    .before_read = latb_settle,
    .settle = latb_settle,
    .show = latb_show,
    .before_release = flush,
    .before_commit = flush,
    .commit = nvmi_undo_commit,
    .abort = latb_abort,
    .hand_on = nvmi_undo_hand_on,
    .parcel_lines = nvmi_undo_parcel_lines,
    .pieces = nvmi_undo_pieces,
    .own_bytes = nvmi_undo_own_bytes,
    .pack = nvmi_undo_pack,
    .unpack = nvmi_undo_unpack,
    .before_fork = nvmi_undo_before_fork,
};
