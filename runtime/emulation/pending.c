/* pending.c: see pending.h. */
#include "emulation/pending.h"

#include "base/signal_frame.h"
#include "platform/persist.h"

enum { LINE = 1 << NVMI_LINE_SHIFT, HASH_SHIFT = 55 };

void (*nvmi_block_freed)(const void *address, uint64_t size);

/* Lists what a jump out of a change has left taken. */
static void list_anew(struct nvmi_pending *pending) {
  pending->count = 0;
  for (unsigned i = 0; i < NVMI_PENDING_MAX; i++)
    if (pending->places[i].line)
      pending->taken[pending->count++] = (uint16_t)i;
}

/* False: this interrupts a change of the lines, in a signal's handler. Where there is none, such a one has left the
 * change by a jump. */
static bool enter(struct nvmi_charged *me) {
  bool was_inside = me->inside;
  if (was_inside && nvmi_in_signal_handler())
    return false;
  me->inside = true;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(was_inside))
    list_anew(&me->pending);
  return true;
}

static void leave(struct nvmi_charged *me) {
  nvmi_compiler_barrier();
  me->inside = false;
}

/* The bytes of `line` that are in [start, end). */
static uint64_t bytes_in(uint64_t line, uint64_t start, uint64_t end) {
  uint64_t from = line << NVMI_LINE_SHIFT, to = from + LINE;
  uint64_t behind = end < to ? UINT64_MAX >> (to - end) : UINT64_MAX;
  return start > from ? behind >> (start - from) << (start - from) : behind;
}

/* Where the line stands, or may stand. There is always a free place. */
static struct nvmi_pending_line *find(struct nvmi_pending *pending, uint64_t line) {
  uint64_t at = line * UINT64_C(0x9e3779b97f4a7c15) >> HASH_SHIFT;
  while (pending->places[at % NVMI_PENDING_MAX].line &&
         pending->places[at % NVMI_PENDING_MAX].line != line)
    at++;
  return &pending->places[at % NVMI_PENDING_MAX];
}

static struct nvmi_pending_line *place_of(struct nvmi_pending *pending, uint64_t line) {
  struct nvmi_pending_line *p = find(pending, line);
  if (!p->line) {
    p->bytes = p->known = p->changed = 0;
    nvmi_compiler_barrier(); /* a jump may leave it on no list */
    p->line = line;
    pending->taken[pending->count++] = (uint16_t)(p - pending->places);
  }
  return p;
}

static bool needs_commit(const struct nvmi_pending_line *p) {
  if (p->changed & p->bytes)
    return true;
  for (uint64_t left = p->bytes; left; left &= left - 1) {
    unsigned byte = (unsigned)__builtin_ctzll(left);
    if (p->before[byte] != p->now[byte])
      return true;
  }
  return false;
}

/* How many lines need a commit. */
static uint64_t take_all(struct nvmi_charged *me) {
  struct nvmi_pending *pending = &me->pending;
  uint64_t lines = 0, waited = 0;
  for (unsigned i = 0; i < pending->count; i++) {
    struct nvmi_pending_line *p = &pending->places[pending->taken[i]];
    waited += p->bytes != 0;
    lines += p->bytes && needs_commit(p);
    p->line = 0;
  }
  pending->count = 0;
  nvmi_local_add(&me->unchanged, waited - lines);
  nvmi_local_add(&me->flushes, lines);
  return lines;
}

/* Nobody waits for each line's clwb: a log is written past the cache, and lines in place are written back after it. */
void nvmi_pending_commit(struct nvmi_charged *me, uint64_t start) {
  if (!enter(me))
    return;
  uint64_t lines = take_all(me);
  bool commits = lines || me->pending.is_written;
  me->pending.is_written = false;
  leave(me);
  if (!commits)
    return;
  nvmi_local_add(&me->commits, 1);
  nvmi_spend(me, start,
             (lines ? nvmi_transfer(nvmi_emulated.write, lines) : 0) + nvmi_emulated.commit);
}

/* The cache itself writes them. Nanoseconds. */
static uint64_t write_back(struct nvmi_charged *me) {
  uint64_t lines = take_all(me);
  if (!lines)
    return 0;
  me->pending.is_written = true;
  return nvmi_transfer(nvmi_emulated.write, lines);
}

/* Bytes of one line. `change` has the bytes from `address` on. */
static void keep(struct nvmi_pending_line *p, uint64_t bytes, uint64_t address,
                 const struct nvmi_change *change) {
  if (!change) {
    p->bytes |= bytes;
    p->changed |= bytes;
    return;
  }
  for (uint64_t left = bytes; left; left &= left - 1) {
    unsigned byte = (unsigned)__builtin_ctzll(left);
    uint64_t shift = 8 * ((p->line << NVMI_LINE_SHIFT) + byte - address);
    if (!(p->known >> byte & 1))
      p->before[byte] = (uint8_t)(change->before >> shift);
    p->now[byte] = (uint8_t)(change->now >> shift);
  }
  p->known |= bytes;
  p->bytes |= bytes;
}

void nvmi_pending_add(struct nvmi_charged *me, uint64_t address, uint64_t size,
                      const struct nvmi_change *change) {
  uint64_t end = address + size, cost = 0, start = 0;
  if (!enter(me))
    return;
  for (uint64_t line = address >> NVMI_LINE_SHIFT; line << NVMI_LINE_SHIFT < end; line++) {
    keep(place_of(&me->pending, line), bytes_in(line, address, end), address, change);
    if (me->pending.count >= NVMI_PENDING_MAX / 2) {
      start = start ? start : nvmi_clock_now();
      cost += write_back(me);
    }
  }
  leave(me);
  if (cost)
    nvmi_spend(me, start, cost);
}

/* What was there before is remembered: the memory may be used again before the commit. */
static void drop(struct nvmi_charged *me, struct nvmi_pending_line *p, uint64_t bytes) {
  bool waited = p->bytes;
  p->bytes &= ~bytes;
  nvmi_local_add(&me->dropped, waited && !p->bytes);
}

static void freed(const void *address, uint64_t size) {
  struct nvmi_charged *me = nvmi_charged_own;
  if (!me || !me->pending.count || !enter(me))
    return;
  uint64_t start = (uintptr_t)address, first = start >> NVMI_LINE_SHIFT;
  uint64_t lines = nvmi_lines_at(address, size);
  bool is_long = lines > me->pending.count;
  for (uint64_t i = 0; i < (is_long ? me->pending.count : lines); i++) {
    struct nvmi_pending_line *p =
        is_long ? &me->pending.places[me->pending.taken[i]] : find(&me->pending, first + i);
    if (p->line && p->line - first < lines)
      drop(me, p, bytes_in(p->line, start, start + size));
  }
  leave(me);
}

void nvmi_pending_watch(void) {
  nvmi_signal_frame_prepare();
  nvmi_block_freed = freed;
}
