/* spend.h: what a thread is charged, and its waits.
 *
 * Charged thread: its counts, and the ticks that its last wait took too long, which its next wait is
 * shorter by. Each thread changes its own alone, and so do its
 * signals' handlers: counts by one instruction each.
 */
#pragma once

#include "base/basics.h"
#include "emulation/clock.h"
#include "emulation/profile.h"

#include <stdatomic.h>

enum {
  NVMI_LINE_SHIFT = 6,
  NVMI_PENDING_MAX = 512, /* places for lines that wait for a commit; half of them may be taken */
  NVMI_RECENT = 1024      /* lines of a thread that it has accessed last; some of them */
};

/* pending.h */
struct nvmi_pending {
  unsigned count;  /* places that are taken */
  bool is_written; /* lines were written back since the last commit, without one */
  uint16_t taken[NVMI_PENDING_MAX];
  struct nvmi_pending_line {
    uint64_t line; /* 0: the place is free */
    /* A bit for each byte: that waits; of which is known what it was at the last commit; that was stored to without
     * anybody knowing that. */
    uint64_t bytes, known, changed;
    uint8_t before[1 << NVMI_LINE_SHIFT], now[1 << NVMI_LINE_SHIFT];
  } places[NVMI_PENDING_MAX];
};

struct nvmi_types_table;

struct nvmi_charged {
  struct nvmi_charged *next;
  struct nvmi_types_table *types; /* by_types.h; null: nothing is counted by types */
  atomic_bool is_owned;           /* by a thread; else the next one takes it over, with its sums */
  uint64_t loads, lines_loaded, stores, lines_stored, hits, flushes, commits, interrupted;
  uint64_t dropped, unchanged; /* lines that waited for a commit and need none (pending.h) */
  uint64_t pool_flushes, pool_streams, pool_fences; /* lines, lines, fences that waited for some */
  uint64_t asked;                                   /* nanoseconds */
  uint64_t waited;                                  /* ticks */
  int64_t late;                                     /* ticks that the last wait took more */
  uint64_t unfenced_flushes, unfenced_streams;      /* lines, since the last fence */
  bool inside;                                      /* of a change of `pending` */
  uintptr_t stack_end;                              /* 0: nobody knows */
  bool owes;                                        /* there was an output since the last commit */
  uint64_t recent[NVMI_RECENT];
  struct nvmi_pending pending;
};

/* What is emulated. Changed at the start only. */
extern struct nvmi_profile nvmi_emulated;
/* Whether something is charged, or counted at least. */
extern atomic_bool nvmi_charges;
extern _Thread_local struct nvmi_charged *nvmi_charged_own
    __attribute__((tls_model("initial-exec")));

/* How many lines lie there, in part or whole. */
static inline uint64_t nvmi_lines_at(const void *address, uint64_t size) {
  uint64_t first = (uintptr_t)address >> NVMI_LINE_SHIFT;
  return size ? (((uintptr_t)address + size - 1) >> NVMI_LINE_SHIFT) - first + 1 : 0;
}

/* That of a thread which has none: one that is no other's, or a new one. Ends the program where there is no memory. */
struct nvmi_charged *nvmi_charged_make(void);
static inline struct nvmi_charged *nvmi_charged_self(void) {
  return NVMI_LIKELY(nvmi_charged_own != NULL) ? nvmi_charged_own : nvmi_charged_make();
}
/* Nothing was charged yet. */
void nvmi_charged_clear(struct nvmi_charged *me);
/* All threads', since the start or the last fork: the counts. For one caller at a time. */
const struct nvmi_charged *nvmi_charged_sum(void);
/* The threads' states one after the other, in any order; the first behind null. Null: that was the last. */
const struct nvmi_charged *nvmi_charged_next(const struct nvmi_charged *last);
/* Tells on stderr how long they have waited, and how exactly. */
void nvmi_spent_tell(const struct nvmi_charged *sum);

/* Whether earlier waits took so much more that this one need not be: then it is over. A look at the clock may take
 * longer than a short wait. */
bool nvmi_is_paid(struct nvmi_charged *me, uint64_t nanoseconds);
/* Until so long behind `start`, less what earlier waits took more. Gives the nanoseconds. */
uint64_t nvmi_spend(struct nvmi_charged *me, uint64_t start, uint64_t nanoseconds);
/* `time`, but as long as the bandwidth allows at least. Nanoseconds. */
uint64_t nvmi_transfer(uint64_t time, uint64_t lines);

/* Reads `text` (profile.h) into nvmi_emulated. False: `fault` says what is wrong. */
bool nvmi_emulation_choose(const char *text, char *fault, unsigned size);
/* Begins to charge what was chosen; of a memory that costs nothing only if it is to be counted. Null,
 * or why it cannot. Once. */
const char *nvmi_emulation_begin(void);
