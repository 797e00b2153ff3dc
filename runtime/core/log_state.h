/* log_state.h: what the runtime keeps in DRAM of a thread's log in a pool (log/log.h).
 *
 * Log: one thread's redo and undo entries in one pool; it outlives the thread and is handed on. Its
 * state belongs to its owner. Parts of it belong to other rooms: what the open transaction intends
 * with blocks, blocks for the next one, and what a method keeps of it.
 */
#pragma once

#include "core/block_cache.h"
#include "core/intents.h"
#include "format/layout.h"
#include "nvmove/nvmove.h"

#include <stdatomic.h>

struct nvm_pool;
struct nvmi_thread;

#define NVMI_FRAME_MAX 8192  /* longer records are several frames: half of the smallest segment */
#define NVMI_COPY (16 << 10) /* bytes, as a bank's first segment; within the first-level cache */
#define NVMI_CHECKED_MAX 16  /* undo entries of a checked commit; above, a fence is nothing */

/* Where the next frame of a transaction goes. */
struct nvmi_cursor {
  uint64_t transaction;
  struct nvm_segment *segment;
  uint64_t at;     /* offset in segment */
  uint64_t frames; /* put so far */
  uint64_t fenced; /* of these, at least: a signal handler may count one too few */
};

/* Of the method undo. */
struct nvmi_undo_part {
  volatile bool committing; /* between two transactions */
  unsigned range_count;     /* goes on counting above NVMI_CHECKED_MAX */
  struct {
    uint64_t offset;
    uint32_t size;
  } ranges[NVMI_CHECKED_MAX]; /* what the open transaction's first undo entries cover */
};

#define NVMI_ALIAS_FILTER_BITS 512 /* one line of the cache */

/* Of methods with aliases (alias.h). */
struct nvmi_alias_part {
  size_t first, count; /* aliases in `captured` */
  uint64_t *slots;     /* stamp << 32 | number of the alias */
  size_t room;         /* slots: a power of two, or 0 */
  uint32_t stamp;      /* of slots that are in use */
  uint64_t filter[NVMI_ALIAS_FILTER_BITS / 64];
};

/* Of a commit that stores past the log (tx/direct.h); all empty in between. */
struct nvmi_direct_part {
  struct nvmi_array large;  /* large blocks, as direct.c lists them */
  struct nvmi_array items;  /* size_t: numbers of lines */
  struct nvmi_array single; /* struct nvmi_line */
};

struct nvmi_log {
  struct nvm_pool *pool;
  struct nvmi_thread *owner; /* null: free to take */
  unsigned slot;
  struct nvmi_cursor *volatile cursor; /* of the open transaction: one of the two */
  struct nvmi_cursor cursors[2];       /* one a bank */
  struct nvm_segment *first[2];        /* of each bank */
  _Atomic int solo; /* inside a section that relies on this log being the only one */
  bool alone;       /* what that section was told; for the heap */
  /* From this order on (<< 1) its records may not be in place durably; 0: all are, or (shadow) are
   * published (checkpoint.h). Lowest bit: the commit that said so will wait, and clear it. */
  _Atomic uint64_t pending;
  struct nvmi_undo_part undo;
  struct nvmi_array operations; /* uint64_t, NVM_OPERATION: of the commit record */
  struct nvmi_intents intents;  /* of the open transaction */
  struct nvmi_array captured;   /* struct nvmi_captured (captured.h) */
  struct nvmi_array covered;    /* the same: what an abort gives back (judge/unnoted.h) */
  struct nvmi_alias_part alias;
  struct nvmi_direct_part direct;
  struct nvmi_array entries; /* of an abort (log_read.h) */
  struct nvmi_block_cache blocks;
  struct nvm_stats stats;
  unsigned bank;         /* shadow: that records go to (checkpoint.h) */
  bool bank_tells;       /* a record there that is not in the copy is durable */
  _Atomic uint64_t last; /* record in the copy: where it begins << 32 | ends; 0: none */
  _Alignas(NVM_FRAME_ALIGN) char copy[NVMI_COPY];
  _Alignas(NVM_FRAME_ALIGN) char stage[NVMI_FRAME_MAX]; /* where commit records are put together */
};
