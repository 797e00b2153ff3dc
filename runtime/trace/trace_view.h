/* trace_view.h: the program's memory as the trace knows it, by offset in the file. With the trace's lock. */
#pragma once

#include "trace/trace_state.h"

void nvmi_view_note(struct nvmi_tracer *self, uint64_t place, uint64_t size);
void nvmi_view_forget_notes(struct nvmi_tracer *self);
void nvmi_view_take(void);
/* Without the lock: the place is in no block, or its type says where a pointer in it points to;
 * none does of unions. */
bool nvmi_view_says_where(uint64_t place);
void nvmi_view_put_store(const struct nvmi_tracer *self, const struct nvmi_told *told,
                         uint64_t extra);
/* A pointer that does not commit, with what the type of its block says. */
void nvmi_view_put_unsafe(const struct nvmi_tracer *self, const struct nvmi_told *told);
/* Bytes that differ from the view: stored by a function with a note of this thread, by another
 * thread that will tell of it, or by nobody; then `site` is of the call that did it, or 0. */
void nvmi_view_compare(const struct nvmi_tracer *self, uint64_t from, uint64_t size, uint64_t site);
/* The aligned `size` bytes around a place that was just stored to, or that a call was given. */
void nvmi_view_compare_around(const struct nvmi_tracer *self, uint64_t place, uint64_t size,
                              uint64_t site);
/* Bytes that were written into the file, not by a store. */
void nvmi_view_put_written(const struct nvmi_tracer *self, const struct nvmi_told *told,
                           uint64_t site);
/* At the end of a transaction: what it noted, and a stretch of the rest; or all. */
void nvmi_view_compare_heap(const struct nvmi_tracer *self, bool whole, uint64_t site);
