/* trace.h: hooks of the trace (include/nvmove/trace.h). Off, each costs one predictable branch. */
#pragma once

#include "internal.h"

#include "nvmove/trace.h"

extern bool nvmi_tracing;

/* NVMOVE_TRACE: from now on this pool is traced, if none is yet. */
void nvmi_trace_open(struct nvm_pool *pool);
void nvmi_trace_close(const struct nvm_pool *pool);
/* A transaction of this thread begins; it belongs to no pool. */
void nvmi_trace_begin(void);
void nvmi_trace_event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                      uint64_t extra);
/* A barrier in all threads of the process has returned. */
void nvmi_trace_barrier(void);
/* Compares the program's view with what was traced, writes down what differs. */
void nvmi_trace_compare(const struct nvm_pool *pool);

static inline void nvmi_trace(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                              uint64_t extra) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_event(pool, kind, place, extra);
}
