/* thread.h: what a thread has open, over all pools.
 *
 * Line: 64 bytes of persistent memory, and which of its bytes the transaction noted. They are in the
 * thread's table of lines (abi.h) or in its list (lines.h). The state belongs to its thread. Others
 * read what says so, and the rest while the thread stands still (standstill.h).
 */
#pragma once

#include "base/basics.h"
#include "base/bits.h"
#include "core/pool.h"
#include "nvmove/abi.h"

#include <stdatomic.h>
#include <stdbool.h>

struct nvmi_held;
struct nvmi_root_events;
struct nvmi_node;

#define NVMI_LINES_AHEAD 8   /* that a commit asks for: a long one has left the nearest cache */
#define NVMI_AHEAD_MAX 16    /* ranges noted ahead of their stores; then a wait comes early */
#define NVMI_POSTS_MAX 64    /* semaphores that handlers post while a thread is at work */
#define NVMI_FRESH_MAX 8     /* ranges allocated in this transaction that are remembered */
#define NVMI_FRESH_NOTED 256 /* bytes of a new block up to which it is noted whole */

struct nvmi_thread {
  struct nvm_line_table *table; /* the thread's __nvm_lines: `lines_table` */
  uint64_t touched;             /* bit i: pool i has something uncommitted */
  uint64_t calls;               /* pre-compiled ones that may call back, and have not returned */
  uint64_t aliases;             /* bit i: the thread has used an alias table in pool i (alias.h) */
  unsigned begun;               /* nvm_tx_begin not yet matched */
  unsigned inherited;           /* the same, of a child of fork: begun before it */
  bool doomed;                  /* an inner abort happened */
  volatile bool ends;           /* a transaction, in order.h's order: its node stays until then */
  bool has_lost;                /* what it stored outside transactions; not yet told */
  bool left;                    /* the order: it ends, and depends on nobody */
  bool leaves;                  /* it ends */
  bool stays_open;              /* what is open could not end at a wait for a condition */
  bool handlers_store;          /* signal handlers note, too: they wait during commits */
  volatile int in_heap;         /* may hold the heap's lock: a handler cannot make the log longer */
  volatile int busy;            /* inside note or commit: a signal handler takes the nested way */
  volatile int in_call;         /* to the heap, of the program: no transaction ends meanwhile */
  volatile int uses_open;       /* ends what it has open, in whatever pools (gate.h) */
  volatile bool awaits; /* amid that: others, and uses only what it has touched (commit_wait.h) */
  unsigned used_count;
  uint16_t used[NVM_LINE_SLOTS]; /* slots of the table that are not empty */
  struct nvmi_array lines;       /* struct nvmi_line that left the table */
  struct nvmi_array nested;      /* struct nvmi_line noted by signal handlers */
  struct nvmi_array frames;      /* void *: frame addresses of open atomic calls */
  struct nvmi_array called;      /* struct nvmi_called, as many as table->called says */
  struct nvmi_array image; /* struct nvmi_captured, room for a look at pointers (own_image.h) */
  struct nvmi_array image_lines; /* struct nvmi_line, room for the same */
  struct nvmi_fresh {
    uintptr_t start, end;
    uint64_t listed, listed_end; /* lines of it that are in the list as ranges */
  } fresh[NVMI_FRESH_MAX];
  struct {
    uintptr_t start, end;
  } ahead[NVMI_AHEAD_MAX]; /* their entries are not yet durable: table->ahead */
  size_t nested_old;       /* the first of `nested`: their transaction may have ended */
  unsigned ahead_count;
  unsigned fresh_count;
  uintptr_t noted_start, noted_end; /* all of it is noted: a long range, the last; end 0: none */
  bool fresh_stores;                /* stores to them went without entry */
  struct nvmi_log *logs[NVMI_POOLS_MAX];
  struct nvmi_node *node; /* its place among others' (order.h), or null */
  bool others_stand;      /* still: what they have noted and logged may be read */
  bool looks_again;       /* for unsafe pointers: this first look tells of none */
  struct nvmi_held *held; /* its locks (held.h) */
  struct nvmi_post {
    void *semaphore;
    unsigned count;
  } posts[NVMI_POSTS_MAX]; /* that handlers wanted to do (order.h) */
  volatile unsigned posts_count;
  size_t
      unwound; /* so many of `frames` were left by the end of the thread: nothing else ends those */
  uintptr_t jumped_from,
      jumped_to; /* its frame, and the stack pointer behind a jump out of a handler that interrupted libnvmove */
  bool passes_points; /* commit points, which end what is outside transactions */
  int id;             /* the kernel's */
  _Alignas(64) struct nvm_line_table lines_table;
  const struct nvmi_root_events *roots; /* null where no port's pool is attached (port.h) */
};

/* The calling thread's state, made at first need. Found without a call, as compiled code finds the
 * table of lines: what calls nothing need not keep all registers. */
extern _Thread_local struct nvmi_thread *nvmi_self __attribute__((tls_model("initial-exec")));
struct nvmi_thread *nvmi_thread_make(void);
static inline struct nvmi_thread *nvmi_thread_self(void) {
  return NVMI_LIKELY(nvmi_self != NULL) ? nvmi_self : nvmi_thread_make();
}

/* Says that these pools (bits) have something uncommitted, or no longer. */
static inline void nvmi_touch(struct nvmi_thread *thread, uint64_t pools) {
  nvmi_bits_set(&thread->touched, pools);
}
static inline void nvmi_untouch(struct nvmi_thread *thread, uint64_t pools) {
  nvmi_bits_clear(&thread->touched, pools);
}

/* Between two steps of the runtime. */
static inline bool nvmi_is_inside(const struct nvmi_thread *thread) {
  return thread->busy | thread->uses_open;
}

/* While it is held no thread gives its logs back at its end. */
void nvmi_threads_lock(void);
void nvmi_threads_unlock(void);

/* A signal handler has interrupted the note of a store, and has jumped away; the store is never
 * made. The note's own steps leave the thread's tables and the log readable at each moment. */
void nvmi_thread_left(struct nvmi_thread *thread);

/* Ends what a thread has open, and gives its logs back, before its state goes: thread_end.c of the
 * room tx. Signals wait when it returns. False: all stays as it is, and the state. Null: no pool was opened. */
extern bool (*_Atomic nvmi_thread_ends)(struct nvmi_thread *thread);

static inline bool nvmi_in_transaction(const struct nvmi_thread *thread) {
  return thread->begun || thread->frames.count;
}
