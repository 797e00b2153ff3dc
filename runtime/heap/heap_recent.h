/* heap_recent.h: the blocks that the open transaction allocates and frees: as intents in a list,
 * found again by address.
 *
 * The table of recent ones is of guesses, each held against the intent that it leads to. What it
 * does not know any more is freed like any other block. Blocks at like places of different spans
 * share a set, and would push each other out for ever if it had one place.
 */
#pragma once

#include "core/alias.h"
#include "core/thread.h"
#include "heap/heap_types.h"

#include <assert.h>

static inline struct nvmi_intent *nvmi_intent_at(const struct nvmi_log *log, size_t position) {
  return (struct nvmi_intent *)log->intents.list.items + position;
}

static inline uint32_t *nvmi_recent_set(struct nvmi_log *log, const void *address) {
  return log->intents.recent[(uintptr_t)address / 16 % NVMI_RECENT_SETS];
}

static inline void nvmi_recent_put(struct nvmi_log *log, const void *address, uint32_t position) {
  uint32_t *set = nvmi_recent_set(log, address);
  unsigned way = 0;
  while (way < 3 && set[way] != position)
    way++;
  for (; way; way--)
    set[way] = set[way - 1];
  set[0] = position;
}

/* Of a small block. Null: not known, or freed since. A guess may be of an earlier transaction, and
 * lead to a large block of this one. */
static inline struct nvmi_intent *nvmi_recent_find(struct nvmi_log *log, const void *address) {
  const uint32_t *set = nvmi_recent_set(log, address);
  for (unsigned way = 0; way < 4; way++) {
    if (set[way] >= log->intents.list.count)
      continue;
    struct nvmi_intent *intent = nvmi_intent_at(log, set[way]);
    if (intent->address == address && intent->fate == NVMI_ALLOCATED &&
        intent->class < NVMI_CLASSES)
      return intent;
  }
  return NULL;
}

static inline void nvmi_intends(struct nvmi_log *log) {
  assert(log->owner->busy);
  nvmi_touch(log->owner, UINT64_C(1) << log->pool->index);
}

/* Of a transaction that is known to intend something. Valid until the next. Out of memory: fatal.
 */
static inline struct nvmi_intent *nvmi_intent_put(struct nvmi_log *log, struct nvmi_intent intent) {
  if (intent.fate == NVMI_ALLOCATED) {
    if (NVMI_LIKELY(intent.class < NVMI_CLASSES))
      nvmi_recent_put(log, intent.address, (uint32_t)log->intents.list.count);
    else
      log->intents.has_large = true;
  }
  if (NVMI_UNLIKELY(!nvmi_array_push(&log->intents.list, &intent, sizeof intent)))
    nvmi_fatal(NVM_ENOMEMORY, log->pool->path,
               "out of memory for a transaction's allocations and frees");
  return nvmi_intent_at(log, log->intents.list.count - 1);
}

static inline struct nvmi_intent *nvmi_intent_add(struct nvmi_log *log, struct nvmi_intent intent) {
  nvmi_intends(log);
  return nvmi_intent_put(log, intent);
}

static inline struct nvmi_intent nvmi_intent_of(const struct nvm_pool *pool, struct nvmi_span *span,
                                                uint32_t index, enum nvmi_fate fate) {
  return (struct nvmi_intent){.span = span,
                              .address = nvmi_block_address(pool, span, index),
                              .index = (uint16_t)index,
                              .fate = (uint8_t)fate,
                              .class = (uint8_t)span->class};
}

/* A local block of the class, claimed again; null: there is none. */
static inline struct nvmi_intent *nvmi_heap_reuse(struct nvmi_log *log, uint32_t class) {
  if (!log->intents.local[class])
    return NULL;
  uint32_t position = log->intents.local[class] - 1;
  struct nvmi_intent *intent = nvmi_intent_at(log, position);
  log->intents.local[class] = intent->next;
  log->intents.locals--;
  intent->fate = NVMI_ALLOCATED;
  nvmi_recent_put(log, intent->address, position);
  if (NVMI_UNLIKELY(log->captured.count && log->pool->method->store))
    nvmi_alias_forget_block(log, (uintptr_t)intent->address,
                            log->pool->heap->geometry[class].block_size);
  return intent;
}

/* A claimed block gets its word, and lives. */
static inline void nvmi_intent_live(struct nvmi_log *log, struct nvmi_intent *intent,
                                    uint32_t word) {
  struct nvmi_span *span = intent->span;
  *nvmi_type_word(&log->pool->heap->geometry[intent->class], span, intent->index) = (uint16_t)word;
  intent->word = word;
  nvmi_set_bit(span->live, intent->index, log->alone);
}

/* A small block that the open transaction allocated becomes a local block. */
static inline void nvmi_heap_make_local(struct nvmi_log *log, struct nvmi_intent *intent) {
  uint32_t *newest = &log->intents.local[intent->class];
  intent->fate = NVMI_LOCAL;
  intent->next = *newest;
  *newest = (uint32_t)(intent - nvmi_intent_at(log, 0)) + 1;
  log->intents.locals++;
}
