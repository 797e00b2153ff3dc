/* heap_ready.h: free blocks that a log keeps for its next allocations. */
#pragma once

#include "heap/heap_types.h"

/* Keeps the free block of an intent for the log's next allocation of its class and type; false: it
 * has enough. */
bool nvmi_ready_keep(struct nvmi_log *log, const struct nvmi_intent *intent);
/* Takes one, claimed, as the intent to allocate it with a word (1 + its type). Null: there is none;
 * else valid until the next call. */
const struct nvmi_intent *nvmi_ready_take(struct nvmi_log *log, uint32_t class, uint32_t word);

static inline struct nvmi_array *nvmi_ready_list(struct nvmi_log *log, uint32_t class,
                                                 uint32_t word) {
  return &log->blocks.ready[class][word % NVMI_READY_LISTS];
}
