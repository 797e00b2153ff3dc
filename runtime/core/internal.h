/* internal.h: the runtime's nouns.
 *
 * Pool: an open file, mapped twice. `home` is the file itself (shared, anywhere): header, logs and
 * heap tables are touched only there. `work` is what the program sees at the pool's fixed address:
 * with undo the same pages, with shadow a private copy-on-write view. Log: one thread's redo and
 * undo entries in one pool; it outlives the thread and is handed on. Thread: the transaction that a
 * thread has open, over all pools: lines touched, nesting. Line: 64 bytes of persistent memory and
 * which of its bytes the transaction noted. Method: how noted bytes become durable (methods/): the
 * rest of the runtime does not ask which. Intent: an allocation or free that happens in the file
 * when the transaction commits. Scrap: a block that a transaction allocated and freed again: the
 * same transaction's next allocations use it, and the file never hears of it.
 */
#pragma once

#include "base/basics.h"
#include "base/checksum.h"
#include "base/own_locks.h"
#include "core/gate.h"
#include "core/log_state.h"
#include "core/method.h"
#include "format/layout_tables.h"
#include "nvmove/abi.h"
#include "nvmove/nvmove.h"
#include "platform/persist.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define NVMI_POOLS_MAX 64
#define NVMI_GRANULE_SHIFT 30 /* of 1 GiB: one table look-up finds the pool of an address */

struct nvmi_counts;
struct nvmi_heap;
struct nvmi_root_events;
struct nvmi_held;
struct nvmi_statics;
struct nvmi_thread;
struct nvmi_ticket;

struct nvm_pool {
  struct nvm_header header; /* as both copies in the file */
  unsigned header_copy;     /* that it was read from: whole, whatever the other is */
  char *home, *work;        /* address of file offset 0 in each mapping */
  uint64_t id_seed;
  struct nvmi_key key; /* of log frames and of what they sum up */
  const struct nvmi_method *method;
  const struct nvmi_persist *persist;
  const struct nvmi_run_owner *const *run_owners; /* null at the end (heap/run_owner.h) */
  _Atomic uint64_t bound;    /* all commit records below are durable in place; only grows */
  _Atomic bool several_logs; /* order numbers, and more, are shared (crash-consistency.md, R3) */
  _Atomic bool in_use; /* opened or created, and not being closed: exit leaves others as they are */
  bool is_foreign;     /* of another program: static pointers mean nothing here */
  bool is_copy;        /* NVMOVE_OPEN=copy: nothing that happens here reaches the file */
  bool forked;         /* this process is a child: nothing may change */
  bool child_stores;   /* and it stored to its view all the same */
  _Atomic unsigned char gate; /* not 0: shut, nobody may note, but has to wait; enum nvmi_gate */
  _Atomic uint64_t *written;  /* bits: pages of the private view in DRAM, where they are bounded */
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
  char path[PATH_MAX];
  struct nvmi_mutex lock;               /* logs, types, header, growth */
  struct nvmi_mutex settling;           /* of who raises the bound; taken last */
  _Alignas(128) _Atomic uint64_t order; /* next number for a log entry; apart from what is read */
  _Alignas(128) _Atomic unsigned log_count;
  _Atomic unsigned parcels; /* of transactions that joined others (order.h) */
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

#define NVMI_LINES_AHEAD 8   /* that a commit asks for: a long one has left the nearest cache */
#define NVMI_AHEAD_MAX 16    /* ranges noted ahead of their stores; then a wait comes early */
#define NVMI_POSTS_MAX 64    /* semaphores that handlers post while a thread is in order.c */
#define NVMI_FRESH_MAX 8     /* ranges allocated in this transaction that are remembered */
#define NVMI_FRESH_NOTED 256 /* bytes of a new block up to which it is noted whole */

struct nvmi_thread {
  struct nvm_line_table *table; /* the thread's __nvm_lines: `lines_table` */
  uint64_t touched;             /* bit i: pool i has something uncommitted */
  unsigned begun;               /* nvm_tx_begin not yet matched */
  unsigned inherited;           /* the same, of a child of fork: begun before it */
  bool doomed;                  /* an inner abort happened */
  volatile bool ends;           /* a transaction, in order.h's order: its ticket stays until then */
  bool has_lost;                /* what it stored outside transactions; not yet told */
  bool left;                    /* the order: it ends, and depends on nobody */
  bool leaves;          /* it ends; told under the lock of threads, until its logs are free */
  bool stays_open;      /* what is open could not end at a wait for a condition */
  bool handlers_store;  /* signal handlers note, too: they wait during commits */
  volatile int in_heap; /* may hold the heap's lock: a handler cannot make the log longer */
  volatile int busy;    /* inside note or commit: a signal handler takes the nested way */
  unsigned used_count;
  uint16_t used[NVM_LINE_SLOTS]; /* slots of the table that are not empty */
  struct nvmi_array lines;       /* struct nvmi_line that left the table */
  struct nvmi_array nested;      /* struct nvmi_line noted by signal handlers */
  struct nvmi_array frames;      /* void *: frame addresses of open atomic calls */
  struct nvmi_array called;      /* struct nvmi_called, as many as table->called says */
  struct nvmi_array image;       /* struct nvmi_sealed, room for a look at pointers (own_image.h) */
  struct nvmi_array image_lines; /* struct nvmi_line, room for the same */
  struct nvmi_fresh {
    uintptr_t start, end;
    uint64_t listed, listed_end; /* lines of it that are in the list as ranges */
  } fresh[NVMI_FRESH_MAX];
  struct {
    uintptr_t start, end;
  } ahead[NVMI_AHEAD_MAX]; /* their entries are not yet durable: table->ahead */
  unsigned ahead_count;
  unsigned fresh_count;
  uintptr_t noted_start, noted_end; /* all of it is noted: a long range, the last; end 0: none */
  bool fresh_stores;                /* stores to them went without entry */
  struct nvmi_log *logs[NVMI_POOLS_MAX];
  struct nvmi_ticket *ticket;  /* its place among others' (order.h), or null */
  bool others_stand;           /* still: what they have noted and logged may be read */
  bool looks_again;            /* for unsafe pointers: this first look tells of none */
  struct nvmi_held *held;      /* its locks (held.h) */
  void *posts[NVMI_POSTS_MAX]; /* semaphores that handlers wanted to post (order.h) */
  volatile unsigned posts_count;
  bool passes_points; /* commit points, which end what is outside transactions */
  int id;             /* the kernel's */
  _Alignas(64) struct nvm_line_table lines_table;
  const struct nvmi_root_events *roots; /* null where no port's pool is attached (port.h) */
};

/* map.c: the reserved range and who has which part of it */
#define NVMI_GRANULES (NVM_RANGE_SIZE >> NVMI_GRANULE_SHIFT)
extern struct nvm_pool *_Atomic nvmi_pool_by_granule[NVMI_GRANULES];
static inline struct nvm_pool *nvmi_pool_at(const void *address) {
  uint64_t granule = ((uint64_t)(uintptr_t)address - NVM_RANGE_BASE) >> NVMI_GRANULE_SHIFT;
  return granule < NVMI_GRANULES
             ? atomic_load_explicit(&nvmi_pool_by_granule[granule], memory_order_acquire)
             : NULL;
}
struct nvm_pool *nvmi_pool_number(unsigned index);
/* thread.c: the calling thread's state, made at first need; the lock keeps threads from ending.
 * Found without a call, as compiled code finds the table of lines: what calls nothing need not keep
 * all registers. */
extern _Thread_local struct nvmi_thread *nvmi_self __attribute__((tls_model("initial-exec")));
struct nvmi_thread *nvmi_thread_make(void);
/* libnvmove's exit handler, once it has run; null: not yet. */
extern void (*_Atomic nvmi_exit_handler)(void);
/* Ends what a thread has open, and gives its logs back, before its state goes: thread_end.c of the
 * room tx. Signals wait when it returns. Null: no pool was opened. */
extern void (*_Atomic nvmi_thread_ends)(struct nvmi_thread *thread);
/* A signal handler has interrupted the note of a store, and has jumped away; the store is never
 * made. The note's own steps leave the thread's tables and the log readable at each moment. */
void nvmi_thread_left(struct nvmi_thread *thread);
static inline struct nvmi_thread *nvmi_thread_self(void) {
  return NVMI_LIKELY(nvmi_self != NULL) ? nvmi_self : nvmi_thread_make();
}
void nvmi_threads_lock(void);
void nvmi_threads_unlock(void);

static inline bool nvmi_in_transaction(const struct nvmi_thread *thread) {
  return thread->begun || thread->frames.count;
}

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
