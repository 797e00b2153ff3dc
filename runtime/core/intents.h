/* intents.h: what an open transaction intends with blocks of a pool.
 *
 * Intent: an allocation or free that happens in the file when the transaction commits. Local block: a block
 * that a transaction allocated and freed again: the same transaction's next allocations use it, and
 * the file never hears of it. The heap keeps them (heap/heap_recent.h).
 */
#pragma once

#include "base/basics.h"

struct nvmi_span;

#define NVMI_CLASSES 80 /* of block sizes: 16..128 by 16, then 8 to each doubling, up to 64 KiB */
#define NVMI_RECENT_SETS 64 /* of four blocks whose intents are found at once */
#define NVMI_AWAITED_MAX 8  /* frees that are looked at a little later */

enum nvmi_fate { NVMI_ALLOCATED, NVMI_FREED, NVMI_LOCAL };
struct nvmi_intent {
  struct nvmi_span *span;
  char *address; /* of the block */
  uint16_t index;
  uint8_t fate;  /* enum nvmi_fate */
  uint8_t class; /* NVMI_CLASSES: a large block */
  union {
    uint32_t word; /* of what is allocated: 1 + its type */
    uint32_t next; /* of a local block: the next of its class, + 1; 0 ends */
  };
};

struct nvmi_intents {
  struct nvmi_array list;                       /* struct nvmi_intent */
  uint32_t local[NVMI_CLASSES];                 /* newest of each class: its intent, + 1; 0: none */
  struct nvmi_intent awaited[NVMI_AWAITED_MAX]; /* frees whose bits are fetched (block_quick.c) */
  unsigned awaited_count;
  unsigned locals;                      /* how many the transaction has */
  bool has_large;                       /* it allocated a large block */
  uint32_t recent[NVMI_RECENT_SETS][4]; /* intents by block, the last first; a guess */
};
