/* trace_calls.h: what is called and traced: the sites of calls, and the events of core/tracing.h. */
#pragma once

#include "trace/trace_state.h"

/* Of the release, begin or commit that the thread is about to call. */
const struct nvm_site *nvmi_trace_next_site(const struct nvmi_callers **callers);
/* The same, or the last one that was taken. */
const struct nvm_site *nvmi_trace_this_site(const struct nvmi_callers **callers);
/* Of that one, or of the output that the thread has announced. */
struct nvmi_callers *nvmi_trace_next_callers(void);
/* Who called the function of the calling thread that has this frame. */
void nvmi_trace_find_callers(struct nvmi_callers *callers, const void *frame);

/* What the table of core/tracing.h holds. */
void nvmi_traced_event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                       uint64_t extra);
void nvmi_traced_alone(enum nvm_trace_kind kind, uint64_t extra);
void nvmi_traced_stored(void *address, const void *bytes, size_t size, bool by_program);
void nvmi_traced_release(const void *lock);
void nvmi_traced_acquire(const void *lock);
