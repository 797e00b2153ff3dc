/* block_cache.h: what a log keeps for its owner's next allocations, from one transaction to the next.
 */
#pragma once

#include "core/intents.h"

#define NVMI_KNOWN_TYPES 16 /* ids whose index is found at once */
#define NVMI_READY_LISTS 16 /* of a class, by type */

struct nvmi_block_cache {
  struct {
    uint64_t id;
    int index;
  } types[NVMI_KNOWN_TYPES];                               /* of the pool, by id */
  struct nvmi_array ready[NVMI_CLASSES][NVMI_READY_LISTS]; /* free blocks (heap_ready.c) */
  unsigned ready_chunks;                                   /* of their spans */
  struct nvmi_span *current[NVMI_CLASSES];                 /* spans that this log allocates from */
};
