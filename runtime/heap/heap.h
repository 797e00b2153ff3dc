/* heap.h: blocks of a pool.
 *
 * Chunk: 16 KiB of the heap. Run: neighbouring chunks with one use. Span: a run cut into blocks of
 * one size class. The file holds, for each run its use and for each block of a span one word;
 * everything else here is DRAM, made at the first need of it after opening. A block is claimed (or
 * given up) in DRAM at once and in the file with its transaction.
 */
#pragma once

#include "core/log_state.h"
#include "core/pool.h"

struct nvmi_span;
struct nvmi_chunk;
struct nvmi_location;

int nvmi_heap_start(struct nvm_pool *pool);
/* -1: a child of fork has no heap, recorded. */
int nvmi_heap_refuse_child(const struct nvm_pool *pool);
void nvmi_heap_stop(struct nvm_pool *pool);

/* As many as so many bytes need. */
static inline uint64_t nvmi_chunks_for(uint64_t size) {
  return (size + NVM_CHUNK_SIZE - 1) >> NVM_CHUNK_SHIFT;
}

/* A run of a kind that holds no blocks, durable as such; its file offset, or 0 with the failure
 * recorded. */
uint64_t nvmi_heap_own_run(struct nvm_pool *pool, enum nvm_chunk_kind kind, uint64_t chunks);

/* Looks at the frees that wait for that (log->intents.awaited). One of a block that is free already
 * ends the process. Where the thread is busy. */
void nvmi_frees_check(struct nvmi_log *log);
/* The same within a section of its own (nvmi_solo_enter). */
void nvmi_frees_look(struct nvmi_log *log);
static inline void nvmi_frees_end(struct nvmi_log *log, bool commit) {
  if (NVMI_LIKELY(!log->intents.awaited_count))
    return;
  if (commit)
    nvmi_frees_check(log);
  log->intents.awaited_count = 0;
}

/* Bytes from an address of the pool to the end of the block in which it lies; 0: it lies in none.
 */
uint64_t nvmi_heap_room(struct nvm_pool *pool, const void *address);

/* Bytes of the block that starts at an address; 0: none does, recorded. */
size_t nvmi_heap_usable_size(const void *address);
/* The block that a file offset lies in, and how far inside. Null: none; tables must have
 * been read, or the chunk's are read now. */
struct nvmi_span *nvmi_block_at(struct nvm_pool *pool, uint64_t file_offset, uint32_t *index,
                                uint64_t *inside);
/* The block that starts at an address, and its pool; false: none does, recorded. */
bool nvmi_block_find(const void *address, struct nvm_pool **pool, struct nvmi_location *at);
/* Bytes of the block in this chunk. */
uint64_t nvmi_block_size_at(struct nvm_pool *pool, const struct nvmi_chunk *chunk);

/* The type of the block that starts at an address of the pool, its id; 0: it has none, or no block
 * starts there. */
uint64_t nvmi_heap_type(struct nvm_pool *pool, const void *address);

/* What the transaction writes to local blocks need not be kept. */
void nvmi_heap_forget_locals(struct nvmi_log *log);
/* Writes down the operations of the transaction's allocations and frees. False: out of memory. */
bool nvmi_heap_operate(struct nvmi_log *log);
static inline bool nvmi_heap_prepare(struct nvmi_log *log) {
  return NVMI_LIKELY(!log->intents.list.count) || nvmi_heap_operate(log);
}
/* They happened, or never did. */
void nvmi_heap_released(struct nvmi_log *log);
static inline void nvmi_heap_committed(struct nvmi_log *log) {
  if (NVMI_UNLIKELY(log->intents.list.count))
    nvmi_heap_released(log);
}
void nvmi_heap_aborted(struct nvmi_log *log);
/* The same of intents that left their log: struct nvmi_intent, all NVMI_ALLOCATED. `log`: the
 * calling thread's, of the same pool. Where the thread is busy. */
void nvmi_heap_drop(struct nvmi_log *log, const struct nvmi_array *intents);
/* Takes the intents out of the log, for another to adopt: those of a transaction that joined its
 * own. */
struct nvmi_array nvmi_heap_pack(struct nvmi_log *log);
void nvmi_heap_adopt(struct nvmi_log *log, const struct nvmi_intent *intents, size_t count);

/* Blocks that the log keeps for itself go back to the heap; false: there were none. */
bool nvmi_ready_give_back(struct nvmi_log *log);
/* The same, and the log goes to the next thread (nvmi_log_detach). Nothing is open in it. */
void nvmi_ready_detach(struct nvmi_log *log);
void nvmi_ready_free(struct nvmi_log *log);

#ifndef NDEBUG
/* What does not hold of its tables while nobody has a transaction open (base/invariant.h). `kept`:
 * blocks that live in memory alone (order/kept_blocks.h). */
const char *nvmi_heap_fault(struct nvm_pool *pool, uint64_t kept);
#endif

/* Reads all tables: a child of fork cannot. */
void nvmi_heap_read_all(struct nvm_pool *pool);

/* Calls `visit` for each run of chunks in use, under the heap's lock. */
typedef void nvmi_visit_run(void *context, struct nvm_pool *pool, uint32_t chunk, uint32_t count);
void nvmi_heap_each_run(struct nvm_pool *pool, nvmi_visit_run *visit, void *context);
