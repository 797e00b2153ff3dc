/* log_read.h: reading logs: by recovery, by an abort of its own open transaction, by a check. */
#pragma once

#include "core/pool.h"

/* Of this opening's generation, or the one that is recovered; `room`: bytes from it to the end of
 * its segment. */
bool nvmi_frame_valid(const struct nvm_pool *pool, const struct nvm_frame *frame, uint64_t room);

/* Calls `visit` for each undo entry that the open transaction of a log has so far, newest first. */
typedef void nvmi_visit_entry(void *context, const struct nvm_frame *frame);
void nvmi_each_entry(struct nvmi_log *log, nvmi_visit_entry *visit, void *context);
/* The same in the order of the log, with no memory of its own. */
void nvmi_own_entries(const struct nvmi_log *log, nvmi_visit_entry *visit, void *context);
/* Stores back what an entry of this pool covers; flushed, not fenced. False: it covers what is no
 * part of the pool. */
bool nvmi_undo_frame(struct nvm_pool *pool, const struct nvm_frame *frame);
/* The same of an open transaction, where that cannot be: fatal. */
void nvmi_undo_entry(void *pool, const struct nvm_frame *frame);
/* Of pointers to frames: by order, the parts of a record in theirs. */
void nvmi_frames_sort(struct nvmi_array *frames);

/* Calls `visit` for each segment of a bank; false: the chain leads astray. */
typedef void nvmi_visit_segment(void *context, const struct nvm_segment *segment);
bool nvmi_each_segment(const struct nvm_pool *pool, unsigned slot, unsigned bank,
                       nvmi_visit_segment *visit, void *context);
