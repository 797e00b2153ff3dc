/* counts.h: reference counting, for pools that ask for it (Breeze, section IV.F, its Algorithm 2
 * done anew).
 *
 * Reference: a word of an allocated block, or the root, that leads into the heap and is no weak
 * pointer (changes.h). Counted are the references to every 16 bytes, not to blocks: a count is a
 * function of the pool's words alone, whatever blocks come and go where they lead. A block is
 * unreferenced when all counts of its bytes are 0. Weak pointers are counted too, in tables of
 * their own.
 *
 * Two phases. A commit compares what it wrote with what was there, and appends the references that
 * change as one activation record to a circular log in the pool (counts_log.c). A thread of the
 * pool's, behind the program, sums records up to batches of redo entries, each a count and its
 * value, and stores them: counts_batch.c. A commit that finds the log full waits for that.
 *
 * Why a crash does no harm.
 *  1. The record is durable before its transaction's commit record: no change is missed. Whether
 * the transaction of a record committed is what recovery finds in the logs (nvmi_counts_ended); a
 *     record of one that did not is passed over. All that is left is counted before the generation
 *     grows, so none outlives the log that decides about it.
 *  2. A batch is durable, with the place in the circular log behind it, before the first count
 *     changes. It names values, not differences: storing them again changes nothing. There are two
 *     places for batches, used in turn, and the counts of one are durable before the next is
 *     written: the newest whole one is stored again at opening, and says where to go on.
 *  3. A record's room is used again when the batch that passes it is durable.
 *
 * Where counting would not be exact the tables are called stale, durably and beforehand, and
 * nothing is freed until nvmi_counts_anew has made them from the blocks: a transaction of more than
 * NVM_ACTIVATION_MAX changes; stores of a signal handler within a commit; with undo, a transaction
 * during which a lock was released (its new bytes may be another's already).
 *
 * What is freed, and when. A block whose count is 0 may be in use: a variable, a register, a
 * thread's stack may hold its address, and nobody sees them. So the count only makes it a
 * candidate. It is freed when the program says that no such address matters (nvm_pool_release), and
 * when the pool is closed, after which none means anything: release.c. Not at opening, which is to
 * be quick; not at exit, where handlers of the program may still come.
 */
#pragma once

#include "core/follower.h"
#include "core/log_state.h"
#include "gc/changes.h"
#include "heap/run_owner.h"

struct nvmi_count_delta;

struct nvmi_counts {
  struct nvm_pool *pool;
  _Atomic bool stale;       /* `head->exact` says the opposite, durably */
  _Atomic uint64_t spoiled; /* how often somebody said so (nvmi_counts_spoil) */
  struct nvm_counts *head;  /* in home, like all below */
  struct nvm_batch *batch[2];
  char *ring;
  uint64_t *directory;
  _Atomic bool *covered;    /* by directory index: the word is there, and durable */
  struct nvmi_mutex append; /* who takes room in the circular log, or adds a table */
  _Atomic uint64_t end;     /* lines that are taken, since counting began */
  _Atomic uint64_t done;    /* of which counted */
  _Atomic uint8_t *state;   /* enum nvmi_record_state of the record that begins in a line */
  uint16_t *lines;          /* of that record */
  struct nvmi_mutex count;  /* who counts: the thread, or whoever cannot wait for it */
  uint32_t within;
  uint64_t sequence; /* of the last batch */
  struct nvmi_count_delta *deltas;
  struct nvmi_array touched;    /* uint32_t: deltas in use */
  struct nvmi_array candidates; /* uint64_t: file offsets whose count went to 0 */
  bool candidates_lost;         /* there may be more: all blocks have to be looked at */
  uint64_t recovered;           /* records that this opening found to be counted */
  uint64_t *ended; /* at opening: by slot, the number of the newest transaction that has ended */
  pthread_t thread;
  pthread_cond_t wake; /* of `append` */
  bool has_thread, stop;
  uint8_t plain[NVM_TYPES_MAX];       /* by type, changes.c: enum nvmi_shape */
  struct nvmi_count_scratch *scratch; /* by the log's slot */
};

static inline struct nvmi_count_scratch *nvmi_count_scratch(const struct nvmi_log *log) {
  return &log->pool->counts->scratch[log->slot];
}

/* Of the directory. */
static inline uint64_t nvmi_counts_words(const struct nvm_pool *pool) {
  return pool->header.range / NVM_COUNTS_STRETCH * 2;
}

enum nvmi_record_state { NVMI_RECORD_NONE, NVMI_RECORD_OPEN, NVMI_RECORD_DONE, NVMI_RECORD_VOID };

/* Of a mapped pool that counts: makes the DRAM. -1: recorded, the pool is damaged. */
int nvmi_counts_start(struct nvm_pool *pool);
void nvmi_counts_stop(struct nvm_pool *pool);
/* Ends the thread that counts, until more is to be counted; no other thread uses the pool. */
void nvmi_counts_rest(struct nvm_pool *pool);

/* After the logs were recovered, before the generation grows. `nvmi_counts_ended`, before: all
 * transactions of a log up to this number have ended. -1: recorded. */
void nvmi_counts_ended(struct nvm_pool *pool, unsigned slot, uint64_t transaction);
int nvmi_counts_recover(struct nvm_pool *pool);

/* What the file says. */
static inline bool nvmi_counts_stale(const struct nvmi_counts *counts) {
  return __atomic_load_n(&counts->head->exact, __ATOMIC_RELAXED) != NVM_COUNTS_EXACT;
}

/* counts_log.c: before a commit the activation record becomes durable. */
extern const struct nvmi_follower nvmi_counts_follower;

/* The tables are not exact from now on. Allowed in signal handlers. While they are made anew: they are
 * made once more. */
void nvmi_counts_spoil(struct nvm_pool *pool);
/* The same, durably, whatever was said before. Gives what `spoiled` is by that, which the file's word has
 * from now on: never 0, and another one each time. */
uint64_t nvmi_counts_say_stale(struct nvmi_counts *counts);

/* counts_batch.c: room in DRAM for a batch; -1: there is none. Of one in the file: its checksum;
 * and its counts are stored, flushed. */
int nvmi_batch_make(struct nvmi_counts *counts);
void nvmi_batch_free(struct nvmi_counts *counts);
uint64_t nvmi_batch_check(const struct nvm_pool *pool, const struct nvm_batch *batch);
void nvmi_batch_apply(struct nvm_pool *pool, const struct nvm_batch *batch);
/* The file knows that the last batch is there; fenced. */
void nvmi_batch_keep(struct nvmi_counts *counts);

/* Counts one batch; false: there is nothing that can be counted now. */
bool nvmi_counts_step(struct nvmi_counts *counts);
/* Whether something was appended that is not counted yet. */
static inline bool nvmi_counts_wait(const struct nvm_pool *pool) {
  return pool->counts && pool->counts->done != pool->counts->end;
}
/* All that was appended. Nobody commits meanwhile. */
void nvmi_counts_drain(struct nvm_pool *pool);
/* Makes the tables from the blocks. The pool is quiet. -1: recorded. */
int nvmi_counts_anew(struct nvm_pool *pool);

/* Calls `report` for each stretch whose tables differ from its blocks' words; gives how many do,
 * -1: recorded. The pool is quiet. */
long nvmi_counts_differ(struct nvm_pool *pool, void (*report)(void *context, uint64_t place),
                        void *context);

/* The table of a reference (nvm_reference's word), as an index of the directory. */
static inline uint64_t nvmi_counts_table(uint64_t to) {
  return to / NVM_COUNTS_STRETCH * 2 + (to & NVM_REFERENCE_WEAK);
}
/* The count of these 16 bytes, in `home`; null: 0, there is no table. */
static inline uint16_t *nvmi_counts_at(const struct nvmi_counts *counts, uint64_t to) {
  uint64_t table = counts->directory[nvmi_counts_table(to)];
  return table ? (uint16_t *)(counts->pool->home + table) + to % NVM_COUNTS_STRETCH / 16 : NULL;
}
/* Makes sure of a table for it. False: recorded, there is no room. */
bool nvmi_counts_cover(struct nvmi_counts *counts, uint64_t to);

/* Of the runs with the counts. */
extern const struct nvmi_run_owner nvmi_counts_owner;
/* What is wrong with the counts of a file; null: nothing. */
const char *nvmi_counts_fault(const struct nvm_pool *pool);
