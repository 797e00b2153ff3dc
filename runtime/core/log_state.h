/* log_state.h: what the runtime keeps in DRAM of a thread's log in a pool (log/log.h).
 *
 * Log: one thread's redo and undo entries in one pool; it outlives the thread and is handed on. Its
 * state belongs to its owner. Intent: an allocation or free that happens in the file when the
 * transaction commits. Scrap: a block that a transaction allocated and freed again: the same
 * transaction's next allocations use it, and the file never hears of it.
 */
#pragma once

#include "base/basics.h"
#include "format/layout.h"
#include "nvmove/nvmove.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct nvm_pool;
struct nvmi_span;
struct nvmi_thread;

#define NVMI_CLASSES 80 /* of block sizes: 16..128 by 16, then 8 to each doubling, up to 64 KiB */
#define NVMI_FRAME_MAX 8192  /* longer records are several frames: half of the smallest segment */
#define NVMI_COPY (16 << 10) /* bytes, as a bank's first segment; within the first-level cache */
#define NVMI_CHECKED_MAX 16  /* undo entries of a checked commit; above, a fence is nothing */
#define NVMI_RECENT_SETS 64  /* of four blocks whose intents are found at once */
#define NVMI_AWAITED_MAX 8   /* frees that are looked at a little later */
#define NVMI_KNOWN_TYPES 16  /* ids whose index is found at once */
#define NVMI_READY_LISTS 16  /* of a class, by type */

enum nvmi_fate { NVMI_ALLOCATED, NVMI_FREED, NVMI_SCRAPPED };
struct nvmi_intent {
  struct nvmi_span *span;
  char *address; /* of the block */
  uint16_t index;
  uint8_t fate;  /* enum nvmi_fate */
  uint8_t class; /* NVMI_CLASSES: a large block */
  union {
    uint32_t word; /* of what is allocated: 1 + its type */
    uint32_t next; /* of a scrap: the next of its class, + 1; 0 ends */
  };
};

/* Where the next frame of a transaction goes. */
struct nvmi_cursor {
  uint64_t transaction;
  struct nvm_segment *segment;
  uint64_t at;     /* offset in segment */
  uint64_t frames; /* put so far */
  uint64_t fenced; /* of these, at least: a signal handler may count one too few */
};

struct nvmi_log {
  struct nvm_pool *pool;
  struct nvmi_thread *owner; /* null: free to take */
  unsigned slot;
  struct nvmi_cursor *volatile cursor; /* of the open transaction: one of the two */
  struct nvmi_cursor cursors[2];       /* one a bank */
  struct nvm_segment *first[2];        /* of each bank */
  volatile bool committing;            /* undo: between two transactions */
  _Atomic int solo; /* inside a section that relies on this log being the only one */
  bool alone;       /* what that section was told; for the heap */
  /* From this order on (<< 1) its records may not be in place durably; 0: all are, or (shadow) are
   * published (settle.h). Lowest bit: the commit that said so will wait, and clear it. */
  _Atomic uint64_t pending;
  /* What the open transaction's first undo entries cover; more: `range_count` goes on counting. */
  struct {
    uint64_t offset;
    uint32_t size;
  } ranges[NVMI_CHECKED_MAX];
  unsigned range_count;
  struct nvmi_array operations;                 /* uint64_t, NVM_OPERATION */
  struct nvmi_array intents;                    /* struct nvmi_intent */
  uint32_t scrap[NVMI_CLASSES];                 /* newest of each class: its intent, + 1; 0: none */
  struct nvmi_intent awaited[NVMI_AWAITED_MAX]; /* frees whose bits are fetched (heap_quick.c) */
  unsigned awaited_count;
  unsigned scraps;                      /* how many the transaction has */
  bool has_large;                       /* it allocated a large block */
  uint32_t recent[NVMI_RECENT_SETS][4]; /* intents by block, the last first; a guess */
  struct {
    uint64_t id;
    int index;
  } types[NVMI_KNOWN_TYPES];                               /* of the pool, by id */
  struct nvmi_array sealed;                                /* struct nvmi_sealed (sealed.h) */
  struct nvmi_array large, straight;                       /* of a commit (straight.c) */
  struct nvmi_array single;                                /* struct nvmi_line: the same */
  struct nvmi_array entries;                               /* of an abort (log_read.h) */
  struct nvmi_array ready[NVMI_CLASSES][NVMI_READY_LISTS]; /* free blocks (heap_ready.c) */
  unsigned ready_chunks;                                   /* of their spans */
  struct nvmi_span *current[NVMI_CLASSES];                 /* spans that this log allocates from */
  struct nvm_stats stats;
  unsigned bank;         /* shadow: that records go to (settle.h) */
  bool bank_tells;       /* a record there that is not in the copy is durable */
  _Atomic uint64_t last; /* record in the copy: where it begins << 32 | ends; 0: none */
  _Alignas(NVM_FRAME_ALIGN) char copy[NVMI_COPY];
  _Alignas(NVM_FRAME_ALIGN) char stage[NVMI_FRAME_MAX]; /* where commit records are put together */
};
