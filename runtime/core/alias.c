/* alias.c: see alias.h.
 *
 * The hash table is open addressing with linear probing, at most half full. A slot has the number of
 * an alias and a stamp. A slot with an old stamp is empty, so a new transaction clears nothing.
 */
#include "core/alias.h"

#include "base/signals.h"
#include "core/handed.h"
#include "core/lines.h"
#include "platform/persist.h"

#include <pthread.h>
#include <sys/mman.h>

enum { ROOM_MIN = 1024 /* slots: 8 KiB, within the first-level cache */ };

static uint64_t slot_of(const struct nvmi_alias_part *alias, size_t number) {
  return (uint64_t)alias->stamp << 32 | (uint32_t)number;
}

/* The slot of the line, or the empty one where it belongs. */
static uint64_t *find_slot(const struct nvmi_log *log, uint64_t line) {
  const struct nvmi_alias_part *alias = &log->alias;
  for (uint64_t at = nvmi_alias_hash(line);; at++) {
    uint64_t *slot = &alias->slots[at & (alias->room - 1)];
    if (*slot >> 32 != alias->stamp || nvmi_alias_at(log, (uint32_t)*slot)->line == line)
      return slot;
  }
}

struct nvmi_captured *nvmi_alias_find(const struct nvmi_log *log, uint64_t line) {
  if (!log->alias.count || !nvmi_alias_may_have(&log->alias, line))
    return NULL;
  const uint64_t *slot = find_slot(log, line);
  return *slot >> 32 == log->alias.stamp ? nvmi_alias_at(log, (uint32_t)*slot) : NULL;
}

static void free_slots(struct nvmi_alias_part *alias) {
  if (alias->slots)
    munmap(alias->slots, alias->room * sizeof *alias->slots);
}

/* Twice as many slots as aliases, at least. New pages are zero, and no stamp is. */
static __attribute__((noinline)) void grow(struct nvmi_log *log) {
  struct nvmi_alias_part *alias = &log->alias;
  size_t room = alias->room ? 4 * alias->room : ROOM_MIN;
  uint64_t *slots = nvmi_dram_reserve(room * sizeof *slots);
  if (!slots)
    nvmi_fatal(NVM_ENOMEMORY, log->pool->path, "out of memory for the alias table");
  free_slots(alias);
  alias->slots = slots;
  alias->room = room;
  alias->stamp = alias->stamp ? alias->stamp : 1;
  for (size_t i = 0; i < alias->count; i++)
    *find_slot(log, nvmi_alias_at(log, i)->line) = slot_of(alias, i);
}

/* No handler may jump out of the table while not all of it is there. */
static inline void make_room(struct nvmi_log *log) {
  const struct nvmi_alias_part *alias = &log->alias;
  if (NVMI_LIKELY(2 * (alias->count + 1) <= alias->room))
    return;
  sigset_t before = nvmi_signals_hold();
  grow(log);
  nvmi_signals_release(&before);
}

struct nvmi_captured *nvmi_alias_make(struct nvmi_log *log, uint64_t line) {
  struct nvmi_alias_part *alias = &log->alias;
  struct nvmi_captured *known = nvmi_alias_find(log, line);
  if (NVMI_LIKELY(known != NULL))
    return known;
  make_room(log);
  struct nvmi_captured fresh = {.line = line, .sequence = NVMI_ALIASED};
  if (!alias->count)
    alias->first = log->captured.count;
  if (!nvmi_array_push(&log->captured, &fresh, sizeof fresh))
    nvmi_fatal(NVM_ENOMEMORY, log->pool->path, "out of memory for aliased bytes");
  size_t number = alias->count++;
  nvmi_compiler_barrier(); /* found is only what counts: a handler may jump out of here at any moment */
  *find_slot(log, line) = slot_of(alias, number);
  nvmi_compiler_barrier();
  uint64_t bit = nvmi_alias_hash(line) % NVMI_ALIAS_FILTER_BITS;
  alias->filter[bit / 64] |= UINT64_C(1) << bit % 64;
  return nvmi_alias_at(log, number);
}

bool nvmi_alias_hits(const struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++) {
    const struct nvmi_captured *found = nvmi_alias_find(log, line);
    if (found && found->mask & nvmi_line_mask(line, start, end))
      return true;
  }
  return false;
}

void nvmi_alias_read(const struct nvmi_log *log, char *to, uintptr_t from, size_t size) {
  uintptr_t end = from + size;
  for (uint64_t line = from / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++) {
    const struct nvmi_captured *found = nvmi_alias_find(log, line);
    if (found)
      nvmi_captured_read(found, to, from, end);
  }
}

void nvmi_alias_put(const struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  for (size_t i = 0; i < log->alias.count; i++) {
    const struct nvmi_captured *alias = nvmi_alias_at(log, i);
    uintptr_t first = alias->line * NVM_LINE_SIZE;
    if (first < end && first + NVM_LINE_SIZE > start)
      nvmi_captured_read(alias, (char *)first, first, first + NVM_LINE_SIZE);
  }
}

void nvmi_alias_forget_block(struct nvmi_log *log, uintptr_t start, size_t size) {
  struct nvmi_captured *captured = log->captured.items;
  nvmi_handed_drop(&log->captured, start, start + size);
  for (size_t i = 0; i < log->captured.count; i++) {
    uintptr_t first = captured[i].line * NVM_LINE_SIZE;
    if (first < start + size && first + NVM_LINE_SIZE > start)
      captured[i].mask &= ~nvmi_line_mask(captured[i].line, start, start + size);
  }
}

void nvmi_alias_close(struct nvmi_log *log) {
  struct nvmi_alias_part *alias = &log->alias;
  if (!alias->count)
    return;
  alias->count = 0;
  memset(alias->filter, 0, sizeof alias->filter);
  if (++alias->stamp == 0) { /* all stamps were used: slots of the first ones may be there */
    memset(alias->slots, 0, alias->room * sizeof *alias->slots);
    alias->stamp = 1;
  }
}

void nvmi_alias_mend(struct nvmi_log *log) {
  const struct nvmi_captured *items = log->captured.items;
  size_t counted = log->alias.count ? log->alias.first + log->alias.count : 0;
  while (log->captured.count > counted && items[log->captured.count - 1].sequence == NVMI_ALIASED)
    log->captured.count--;
}

void nvmi_alias_clear(struct nvmi_log *log) {
  log->captured.count -= log->alias.count;
  nvmi_alias_close(log);
}

void nvmi_alias_free(struct nvmi_log *log) { free_slots(&log->alias); }
