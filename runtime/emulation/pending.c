/* pending.c: see pending.h. */
#include "emulation/pending.h"

#include "platform/persist.h"

#include <stdlib.h>

enum { LINE = 1 << NVMI_LINE_SHIFT, WORD = LINE / NVMI_LINE_WORDS, HASH_SHIFT = 55 };

void (*nvmi_block_goes)(const void *address, uint64_t size, bool moves);
static bool compares; /* each free comes by */

/* The bytes of `line` that are in [start, end). */
static uint64_t bytes_in(uint64_t line, uint64_t start, uint64_t end) {
  uint64_t from = line << NVMI_LINE_SHIFT, to = from + LINE;
  uint64_t behind = end < to ? UINT64_MAX >> (to - end) : UINT64_MAX;
  return start > from ? behind >> (start - from) << (start - from) : behind;
}

static unsigned of_word(uint64_t bytes, unsigned word) { return bytes >> (word * WORD) & 0xff; }

/* Each bit becomes a byte of ones. */
static uint64_t widened(unsigned bits) {
  uint64_t wide = (bits | (uint64_t)bits << 28) & 0x0000000f0000000f;
  wide = (wide | wide << 14) & 0x0003000300030003;
  return ((wide | wide << 7) & 0x0101010101010101) * 0xff;
}

/* Others may change it meanwhile, and a sanitizer may know only some of its bytes. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t read_word(uint64_t line,
                                                                            unsigned word) {
  const volatile uint64_t *from = (const uint64_t *)(uintptr_t)(line << NVMI_LINE_SHIFT);
  return from[word];
}

/* Where the line stands, or may stand. There is always a free place. */
static struct nvmi_pending_line *find(struct nvmi_pending *pending, uint64_t line) {
  uint64_t at = line * UINT64_C(0x9e3779b97f4a7c15) >> HASH_SHIFT;
  while (pending->places[at % NVMI_PENDING_MAX].line &&
         pending->places[at % NVMI_PENDING_MAX].line != line)
    at++;
  return &pending->places[at % NVMI_PENDING_MAX];
}

static bool needs_commit(const struct nvmi_pending_line *p) {
  if (!compares || p->changed)
    return true;
  for (unsigned i = 0; i < NVMI_LINE_WORDS; i++)
    if (of_word(p->bytes, i) &&
        (read_word(p->line, i) ^ p->before[i]) & widened(of_word(p->bytes, i)))
      return true;
  return false;
}

static void forget_all(struct nvmi_pending *pending) {
  for (unsigned i = 0; i < pending->count; i++)
    pending->places[pending->taken[i]].line = 0;
  pending->count = pending->lines = 0;
}

/* Nobody waits for each line's clwb: a log is written past the cache, and lines in place are written back behind it. */
static void write_back(struct nvmi_charged *me, uint64_t start, uint64_t lines, uint64_t commit) {
  nvmi_local_add(&me->flushes, lines);
  nvmi_spend(me, start, nvmi_transfer(nvmi_emulated.write, lines) + commit);
}

void nvmi_pending_commit(struct nvmi_charged *me, uint64_t start) {
  struct nvmi_pending *pending = &me->pending;
  uint64_t lines = 0;
  for (unsigned i = 0; i < pending->count; i++) {
    const struct nvmi_pending_line *p = &pending->places[pending->taken[i]];
    lines += p->bytes && needs_commit(p);
  }
  nvmi_local_add(&me->unchanged, pending->lines - lines);
  forget_all(pending);
  if (!lines)
    return;
  nvmi_local_add(&me->commits, 1);
  write_back(me, start, lines, nvmi_emulated.commit);
}

static void add(struct nvmi_pending *pending, uint64_t line, uint64_t bytes) {
  struct nvmi_pending_line *p = find(pending, line);
  if (!p->line) {
    *p = (struct nvmi_pending_line){.line = line};
    pending->taken[pending->count++] = (uint16_t)(p - pending->places);
  }
  for (unsigned i = 0; i < NVMI_LINE_WORDS; i++)
    if (of_word(bytes, i) && !of_word(p->bytes, i))
      p->before[i] = read_word(line, i);
  pending->lines += !p->bytes;
  p->bytes |= bytes;
}

void nvmi_pending_add(struct nvmi_charged *me, uint64_t address, uint64_t size) {
  struct nvmi_pending *pending = &me->pending;
  uint64_t end = address + size;
  for (uint64_t line = address >> NVMI_LINE_SHIFT; line << NVMI_LINE_SHIFT < end; line++) {
    add(pending, line, bytes_in(line, address, end));
    if (pending->count ==
        NVMI_PENDING_MAX / 2) { /* the cache itself writes them, and waits for no commit */
      uint64_t lines = pending->lines;
      forget_all(pending);
      write_back(me, nvmi_clock_now(), lines, 0);
    }
  }
}

static void go(struct nvmi_charged *me, struct nvmi_pending_line *p, uint64_t bytes, bool moves) {
  if (moves) {
    p->changed |= bytes & p->bytes;
    return;
  }
  bool waited = p->bytes;
  p->bytes &= ~bytes;
  p->changed &= p->bytes;
  bool is_dropped = waited && !p->bytes;
  me->pending.lines -= is_dropped;
  nvmi_local_add(&me->dropped, is_dropped);
}

void nvmi_pending_freed(const void *address, uint64_t size, bool moves) {
  struct nvmi_charged *me = nvmi_charged_own;
  if (!me || !me->pending.lines)
    return;
  bool is_nested = nvmi_local_add(&me->depth, 1);
  uint64_t start = (uintptr_t)address, first = start >> NVMI_LINE_SHIFT;
  uint64_t lines = nvmi_lines_at(address, size);
  bool is_long = lines > me->pending.count;
  for (uint64_t i = 0; !is_nested && i < (is_long ? me->pending.count : lines); i++) {
    struct nvmi_pending_line *p =
        is_long ? &me->pending.places[me->pending.taken[i]] : find(&me->pending, first + i);
    if (p->line && p->line - first < lines)
      go(me, p, bytes_in(p->line, start, start + size), moves);
  }
  nvmi_local_add(&me->depth, (uint64_t)-1);
}

static bool came_by;
static void note_that_it_came(const void *address, uint64_t size, bool moves) {
  (void)address, (void)moves;
  came_by = size > 0;
}

/* Of a program with an allocator of its own no block comes by. */
void nvmi_pending_watch(void) {
  nvmi_block_goes = note_that_it_came;
  void *volatile block = malloc(1);
  free(block);
  compares = came_by;
  nvmi_block_goes = compares ? nvmi_pending_freed : NULL;
}
