/* lines.h: the thread's table of lines (abi.h), in which the open transaction's noted bytes are
 * found at once, and the list that they are for the commit. All of it at work: a signal handler's
 * notes leave the table alone.
 */
#pragma once

#include "core/thread.h"

static inline struct nvm_line *nvmi_line_slot(struct nvmi_thread *thread, uint64_t line) {
  return &thread->table->slot[line & (NVM_LINE_SLOTS - 1)];
}

/* Bits of the bytes of `line` that lie in [start, end). */
static inline uint64_t nvmi_line_mask(uint64_t line, uintptr_t start, uintptr_t end) {
  uintptr_t first = line * NVM_LINE_SIZE, last = first + NVM_LINE_SIZE;
  uint64_t mask = UINT64_MAX;
  if (start > first)
    mask &= UINT64_MAX << (start - first);
  if (end < last)
    mask &= UINT64_MAX >> (last - end);
  return mask;
}

/* As nvmi_line_push, with more room for the list. */
__attribute__((noinline, cold)) void nvmi_line_push_more(struct nvmi_thread *thread, uint64_t line,
                                                         uint64_t mask);

/* What leaves the table. Out of memory: fatal. The line is there before it counts: a handler may jump out of here. */
static inline void nvmi_line_push(struct nvmi_thread *thread, uint64_t line, uint64_t mask) {
  size_t count = thread->lines.count;
  if (NVMI_UNLIKELY(count >= thread->lines.room)) {
    nvmi_line_push_more(thread, line, mask);
    return;
  }
  ((struct nvmi_line *)thread->lines.items)[count] = (struct nvmi_line){line, mask};
  nvmi_compiler_barrier();
  thread->lines.count = count + 1;
}

static inline void nvmi_line_mark(struct nvmi_thread *thread, uint64_t line, uint64_t mask) {
  struct nvm_line *slot = nvmi_line_slot(thread, line);
  if (slot->line == line) {
    slot->missing &= ~mask;
    return;
  }
  if (!slot->line)
    thread->used[thread->used_count++] = (uint16_t)(line & (NVM_LINE_SLOTS - 1));
  else if (slot->missing != UINT64_MAX) /* given up, nvmi_note_forget() */
    nvmi_line_push(thread, slot->line, ~slot->missing);
  /* In this order a handler's inline test never finds the new line with the old line's bytes. */
  *(volatile uint64_t *)&slot->missing = UINT64_MAX;
  *(volatile uint64_t *)&slot->line = line;
  *(volatile uint64_t *)&slot->missing = ~mask;
}

/* Of several lines. */
__attribute__((noinline)) void nvmi_lines_mark(struct nvmi_thread *thread, uintptr_t start,
                                               uintptr_t end);

/* A new block, of whole 16 bytes, becomes zero and counts as noted: its old content is nobody's, so
 * no method has to know of it before the commit; with which all of it goes to the file, and is
 * looked at for pointers. Not by memset: blocks are too small for a call. */
__attribute__((no_builtin("memset"))) static inline __attribute__((always_inline)) void
nvmi_note_fresh(struct nvmi_thread *thread, void *block, size_t size) {
  typedef uint64_t pair __attribute__((vector_size(16), may_alias));
  uintptr_t start = (uintptr_t)block, end = start + size;
  uint64_t line = start / NVM_LINE_SIZE, last = (end - 1) / NVM_LINE_SIZE;
  for (uintptr_t at = start; at < end; at += sizeof(pair)) {
    *(pair *)at = (pair){0, 0};
    nvmi_compiler_barrier(); /* else it is a call of memset again */
  }
  if (NVMI_LIKELY(line == last))
    nvmi_line_mark(thread, line, UINT64_MAX >> (NVM_LINE_SIZE - size) << start % NVM_LINE_SIZE);
  else
    nvmi_lines_mark(thread, start, end);
  thread->fresh_stores = true;
  thread->table->fresh_start = start;
  thread->table->fresh_end = end;
}

/* A larger one, of which the program may leave the most part as it is: what it stores there is
 * noted then, and needs no undo entry. */
static inline void nvmi_note_later(struct nvmi_thread *thread, void *block, size_t size) {
  uintptr_t start = (uintptr_t)block;
  thread->fresh[thread->fresh_count++ % NVMI_FRESH_MAX] =
      (struct nvmi_fresh){start, start + size, 0, 0};
}

/* What the transaction noted of the block is given up; what left the table stays in the list. */
static inline void nvmi_note_forget(struct nvmi_thread *thread, const void *block, size_t size) {
  uintptr_t start = (uintptr_t)block, end = start + size;
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++) {
    struct nvm_line *slot = nvmi_line_slot(thread, line);
    if (slot->line == line)
      slot->missing |= nvmi_line_mask(line, start, end);
  }
}

/* Commit stores to these lines of the file, here and there: all are asked for at once, so that the
 * processor walks the page tables for several at a time. */
static inline void nvmi_lines_fetch_home(const struct nvm_pool *pool, const struct nvmi_line *lines,
                                         size_t count) {
  uint64_t change = (uint64_t)(uintptr_t)pool->home - pool->header.base;
  for (size_t i = 0; i < count; i++)
    if (NVMI_LIKELY(!(lines[i].line & NVMI_RANGE)))
      __builtin_prefetch((void *)((lines[i].line << 6) + change), 1);
}

/* The lines of the table, and the first `nested` of signal handlers, come into the list
 * (thread->lines). The table is empty afterwards. Out of memory: fatal. */
void nvmi_lines_collect(struct nvmi_thread *thread, size_t nested);
/* Forgets the first `count` lines of signal handlers; more may have come. */
void nvmi_lines_drop_nested(struct nvmi_thread *thread, size_t count);
/* All lines of the transaction come into the list, those of signal handlers too. */
void nvmi_lines_collect_all(struct nvmi_thread *thread);
/* The lines of a pool among the thread's from number `first` up to `all`, copied behind these. They
 * are valid until the list changes. */
const struct nvmi_line *nvmi_lines_of(struct nvmi_thread *thread, const struct nvm_pool *pool,
                                      size_t first, size_t all, size_t *count);
