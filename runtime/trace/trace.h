/* trace.h: when a pool is traced (include/nvmove/trace.h). */
#pragma once

#include "core/tracing.h"

/* The program was compiled with --nvmove-trace=raw: its file is traced (raw/raw.h). */
bool nvmi_trace_is_raw(void);

/* NVMOVE_TRACE: this pool is traced from its first byte on, if none is yet; or again, when it is
 * the one that was. Mapped, but not yet recovered. */
void nvmi_trace_open(struct nvm_pool *pool);
/* It is created, or recovered, and the program gets it. */
void nvmi_trace_opened(const struct nvm_pool *pool);
/* It could not be opened after all: of a first pool there is no trace, and the next one may begin
 * one; of one that was open before the trace has what it had. */
void nvmi_trace_drop(const struct nvm_pool *pool);
void nvmi_trace_close(struct nvm_pool *pool);
/* The process ends with the pool open. */
void nvmi_trace_leave(const struct nvm_pool *pool);

struct nvmi_told;
/* An event of the calling thread, which does not hold the trace's lock. */
void nvmi_trace_tell(const struct nvmi_told *told);
struct nvmi_tracer;
/* The calling thread's; made at its first event. */
struct nvmi_tracer *nvmi_trace_self(void);
/* In the pool's file; at least the trace's size: the address is not in the pool. */
uint64_t nvmi_trace_offset(const void *address);
