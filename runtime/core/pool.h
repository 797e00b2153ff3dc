/* pool.h: an open pool.
 *
 * Pool: an open file, mapped twice. `home` is the file itself (shared, anywhere): header, logs and
 * heap tables are touched only there. `work` is what the program sees at the pool's fixed address:
 * with undo the same pages, with shadow a private copy-on-write view. A pool has logs, one for each
 * thread that writes to it at a time (log_state.h), and a method, by which noted bytes become durable
 * (method.h). The rooms above keep their parts of it behind pointers.
 */
#pragma once

#include "base/basics.h"
#include "base/checksum.h"
#include "base/own_locks.h"
#include "core/method.h"
#include "format/layout_tables.h"
#include "nvmove/nvmove.h"
#include "platform/persist.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

#define NVMI_POOLS_MAX 64

struct nvmi_counts;
struct nvmi_heap;
struct nvmi_statics;

struct nvm_pool {
  struct nvm_header header; /* as both copies in the file */
  unsigned header_copy;     /* that it was read from: whole, whatever the other is */
  char *home, *work;        /* address of file offset 0 in each mapping */
  char *file;               /* the same of the page cache, if `home` is not it (delayed.h) */
  uint64_t id_seed;
  struct nvmi_key key; /* of log frames and of what they sum up */
  const struct nvmi_method *method;
  const struct nvmi_persist *persist;
  const struct nvmi_run_owner *const *run_owners; /* null at the end (heap/run_owner.h) */
  _Atomic uint64_t bound;    /* all commit records below are durable in place; only grows */
  _Atomic bool several_logs; /* order numbers, and more, are shared (crash-consistency.md, R3) */
  _Atomic bool in_use; /* opened or created, and not being closed: exit leaves others as they are */
  bool closing;        /* a thread is about to close it */
  bool is_foreign;     /* of another program: static pointers mean nothing here */
  bool is_copy;        /* NVMOVE_OPEN=copy: nothing that happens here reaches the file */
  bool forked;         /* this process is a child: nothing may change */
  bool child_stores;   /* and it stored to its view all the same */
  _Atomic unsigned char gate; /* not 0: shut, nobody may note, but has to wait; enum nvmi_gate */
  _Atomic uint8_t
      *_Atomic regions; /* not 0: that part of the view is private (regions.h); null: none is */
  _Atomic uint64_t *written; /* bits: pages of the private view in DRAM, where they are bounded */
  _Atomic uint64_t written_count;
  uint64_t written_max;
  _Atomic uint64_t written_limit; /* from here on pages are given back */
  /* At commit, of types that the program describes; some have members that decide about others. */
  _Atomic bool check_pointers, judges_records;
  bool compare;                /* NVMOVE_DEBUG=compare */
  _Atomic bool has_volatile;   /* the program has types with members whose stores nobody notes */
  _Atomic bool stores_unnoted; /* bytes of blocks of any type change without a note: locks */
  int fd;
  unsigned index;
  uint32_t sync_ms; /* as nvm_info.sync_ms */
  char path[PATH_MAX];
  struct nvmi_mutex lock;          /* logs, types, header, growth */
  struct nvmi_mutex checkpointing; /* of who raises the bound; taken last */
  struct nvmi_mutex numbering;     /* from a record's number to its last frame, where delayed */
  _Alignas(128) _Atomic uint64_t order; /* next number for a log entry; apart from what is read */
  _Alignas(128) _Atomic unsigned log_count;
  _Atomic unsigned parcels; /* of transactions that joined others (order_join.h) */
  struct nvmi_log *_Atomic logs[NVM_SLOTS_MAX];
  struct nvmi_heap *heap;
  /* The heap's: a run of chunks for a table or a log, as nvmi_heap_own_run (heap.h). */
  uint64_t (*own_run)(struct nvm_pool *pool, enum nvm_chunk_kind kind, uint64_t chunks);
  struct nvmi_counts *counts;           /* of references (counts.h); null: they are not counted */
  const struct nvmi_follower *follower; /* of all transactions, or null (follower.h) */
  struct nvmi_statics *statics;         /* what it points to in the program (statics.h) */
  uint64_t type_ids[NVM_TYPES_MAX];
  const struct nvm_type *_Atomic types[NVM_TYPES_MAX]; /* their layouts, as far as described */
  unsigned type_count;
  _Atomic unsigned learned; /* libraries that described more of them while the pool was open */
  _Atomic uint64_t judged[NVM_TYPES_MAX]; /* of each, once known: which words (pointers.c) */
  struct nvmi_arena type_memory;          /* of layouts that only the pool describes */
  uint64_t recovered_undone, recovered_redone;
};

static inline uint64_t nvmi_offset(const struct nvm_pool *pool, const void *address) {
  return (uint64_t)((const char *)address - pool->work);
}

/* Where the file has a chunk of the heap, and the word that says what a run from there on is. */
static inline uint64_t nvmi_chunk_offset(const struct nvm_pool *pool, uint32_t chunk) {
  return pool->header.heap_offset + ((uint64_t)chunk << NVM_CHUNK_SHIFT);
}
static inline uint64_t *nvmi_chunk_word(const struct nvm_pool *pool, uint32_t chunk) {
  return (uint64_t *)(pool->home + NVM_CHUNKS_OFFSET) + chunk;
}
