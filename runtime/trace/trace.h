/* trace.h: hooks of the trace (include/nvmove/trace.h). Off, each costs one predictable branch. */
#pragma once

#include "core/internal.h"

#include "nvmove/trace.h"

extern bool nvmi_tracing;

/* NVMOVE_TRACE: this pool is traced from its first byte on, if none is yet; or again, when it is
 * the one that was. Mapped, but not yet recovered. */
void nvmi_trace_open(struct nvm_pool *pool);
/* It is created, or recovered, and the program gets it. */
void nvmi_trace_opened(const struct nvm_pool *pool);
/* It could not be opened after all. */
void nvmi_trace_drop(const struct nvm_pool *pool);
void nvmi_trace_close(struct nvm_pool *pool);
/* The process ends with the pool open. */
void nvmi_trace_leave(const struct nvm_pool *pool);
/* The calling thread ends. */
void nvmi_trace_thread_ends(void);

void nvmi_trace_event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                      uint64_t extra);
/* An event of the thread that belongs to no pool: begin; a barrier in all threads has returned. */
void nvmi_trace_alone(enum nvm_trace_kind kind, uint64_t extra);
/* The runtime itself stored for the program, which has a note. */
void nvmi_trace_stored(void *address, size_t size);
/* The thread is about to release a lock, with something open; has acquired one that others did. */
void nvmi_trace_release(const void *lock);
void nvmi_trace_acquire(const void *lock);
/* Compares the program's view with what was traced, writes down what differs. */
void nvmi_trace_compare(const struct nvm_pool *pool);

static inline void nvmi_trace(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                              uint64_t extra) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_event(pool, kind, place, extra);
}
