/* heap_recent.h: from a small block's address to the intent that allocated it in the open
 * transaction.
 *
 * A table of guesses in the log, each held against the intent that it leads to. What it does not
 * know any more is freed like any other block. Blocks at like places of different spans share a
 * set, and would push each other out for ever if it had one place.
 */
#pragma once

#include "internal.h"

static inline uint32_t *nvmi_recent_set(struct nvmi_log *log, const void *address) {
  return log->recent[(uintptr_t)address / 16 % NVMI_RECENT_SETS];
}

static inline void nvmi_recent_put(struct nvmi_log *log, const void *address, uint32_t position) {
  uint32_t *set = nvmi_recent_set(log, address);
  if (set[0] == position || set[1] == position || set[2] == position)
    return;
  set[3] = set[2];
  set[2] = set[1];
  set[1] = set[0];
  set[0] = position;
}

/* Null: not known, or freed since. A guess may be of an earlier transaction, and lead to a large
 * block of this one. */
static inline struct nvmi_intent *nvmi_recent_find(struct nvmi_log *log, const void *address) {
  const uint32_t *set = nvmi_recent_set(log, address);
  for (unsigned way = 0; way < 4; way++) {
    if (set[way] >= log->intents.count)
      continue;
    struct nvmi_intent *intent = (struct nvmi_intent *)log->intents.items + set[way];
    if (intent->address == address && intent->fate == NVMI_ALLOCATED && !intent->is_large)
      return intent;
  }
  return NULL;
}
