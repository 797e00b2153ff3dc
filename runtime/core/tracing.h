/* tracing.h: what the runtime tells a trace (include/nvmove/trace.h). Off, each costs one
 * predictable branch. */
#pragma once

#include "core/gate.h"
#include "core/pool.h"

#include "nvmove/trace.h"

/* Of the room trace/, from the first pool that is traced on. */
struct nvmi_trace_table {
  void (*event)(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                uint64_t extra);
  void (*alone)(enum nvm_trace_kind kind, uint64_t extra);
  void (*stored)(void *address, const void *bytes, size_t size, bool by_program);
  void (*release)(const void *lock);
  void (*acquire)(const void *lock);
  void (*compare)(const struct nvm_pool *pool);
  void (*thread_ends)(void);
};
extern const struct nvmi_trace_table *nvmi_trace_table;
#define nvmi_tracing (nvmi_slow.tracing) /* at this moment; not without a table */

static inline void nvmi_trace(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                              uint64_t extra) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_table->event(pool, kind, place, extra);
}

/* An event of the thread that belongs to no pool: begin; a barrier in all threads has returned. */
static inline void nvmi_trace_alone(enum nvm_trace_kind kind, uint64_t extra) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_table->alone(kind, extra);
}

/* The runtime itself stored for the program, which has a note. */
static inline void nvmi_trace_stored(void *address, size_t size) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_table->stored(address, address, size, false);
}
/* The program itself, at the place that it told last (nvmove/wrap.h). The bytes may not be in place yet. */
static inline void nvmi_trace_wrapped(void *address, const void *bytes, size_t size) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_table->stored(address, bytes, size, true);
}

/* The thread is about to release a lock, with something open; has acquired one that others did. */
static inline void nvmi_trace_release(const void *lock) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_table->release(lock);
}
static inline void nvmi_trace_acquire(const void *lock) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_table->acquire(lock);
}

/* Compares the program's view with what was traced, writes down what differs. */
static inline void nvmi_trace_compare(const struct nvm_pool *pool) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_table->compare(pool);
}

/* The calling thread ends. */
static inline void nvmi_trace_thread_ends(void) {
  if (NVMI_UNLIKELY(nvmi_trace_table != NULL))
    nvmi_trace_table->thread_ends();
}

/* Whether somebody compares the private view with the file, byte for byte. */
static inline bool nvmi_view_is_compared(const struct nvm_pool *pool) {
  return pool->compare || pool->written || nvmi_tracing;
}
