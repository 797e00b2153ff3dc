/* persist.h: how bytes become durable in each domain; the hardware stops here.
 *
 * Vocabulary. Stream: write whole lines past the cache, durable after the next fence of this
 * thread. Flush: make durable, after the next fence, what was stored in these lines. Fence: wait
 * for both. In the process domain all three only keep the compiler from reordering: the page cache
 * holds every store that was executed, and the processor's own reordering is invisible after a
 * process died.
 *
 * Behind: where a fence costs much (sync.h), what commits have stored in place is put behind: no fence
 * waits for it, but whoever takes a checkpoint does (log/checkpoint.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct nvmi_persist_behind {
  /* What this thread flushes or streams in the pool that is mapped at `home`, from the one to the other,
   * is put behind. Its last fence has left nothing to wait for there. */
  void (*begin)(const void *home);
  void (*end)(const void *home);
  /* All that any thread has put behind in this pool is durable. */
  void (*fence)(const void *home);
};

struct nvmi_persist {
  const char *name;
  /* `to` is aligned to a line, `size` a multiple of one. */
  void (*stream)(void *to, const void *from, size_t size);
  /* The same for a log entry, which is fenced at once: by the way that this processor finishes
   * soonest. */
  void (*append)(void *to, const void *from, size_t size);
  void (*flush)(const void *address, size_t size);
  void (*fence)(void);
  /* Behind a barrier in all threads (log.h): what any of them has flushed or streamed, or put behind, in
   * the pool that is mapped at `home` is durable. Null: that barrier does it. */
  void (*fence_all)(const void *home);
  const struct nvmi_persist_behind *behind; /* null: nothing is */
  /* In place of the fence behind a commit record: all records of the pool that is mapped at `home` with
   * numbers below `below` were appended, and are durable some time later (delayed.h). Null: a fence. */
  void (*record)(const void *home, uint64_t below);
  /* Stores the bytes of the 64-byte line `from` whose mask bits are set, through the cache, and
   * flushes. Never a byte more: the neighbours may belong to another thread. */
  void (*store_line)(void *to, const void *from, uint64_t mask);
};

/* For the process domain; for the power domain with the best instructions of this processor. */
const struct nvmi_persist *nvmi_persist_process(void);
const struct nvmi_persist *nvmi_persist_power(void);
/* For tests that simulate a power failure: taken instead, for pools opened from then on. */
extern const struct nvmi_persist *nvmi_persist_override;

/* Adds to a word that only this thread and its signal handlers write; gives the value before. One
 * instruction, so a handler sees it done or not begun, without the cost of a lock prefix. */
static inline uint64_t nvmi_local_add(uint64_t *word, uint64_t value) {
  __asm__ volatile("xaddq %0, %1" : "+r"(value), "+m"(*word) : : "memory");
  return value;
}

/* Stores a byte as it is, whatever other threads store there: for the page around it. Of an atomic
 * operation of C that changes nothing the compiler would make a load. */
static inline void nvmi_store_same(char *at) {
  __asm__ volatile("lock orb $0, %0" : "+m"(*at) : : "cc");
}

/* Keeps the compiler from moving memory accesses across. */
static inline void nvmi_compiler_barrier(void) { __asm__ volatile("" : : : "memory"); }

/* Calls `flush_one(line)` for each line of a range: for tables of functions that flush line by
 * line. */
#define NVMI_FOR_LINES(line, address, size)                                                        \
  for (uintptr_t line = (uintptr_t)(address) & ~(uintptr_t)63;                                     \
       line < (uintptr_t)(address) + (size); line += 64)
