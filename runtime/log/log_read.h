/* log_read.h: reading logs: by recovery, by an abort of its own open transaction, by a check. */
#pragma once

#include "core/pool.h"

/* log_end.c: whether the frames that were found of a transaction to be undone are all that were
 * durable. */
bool nvmi_entries_complete(const struct nvmi_array *found);

/* The records in a bank of the shadow method. */
struct nvmi_records_end {
  uint64_t newest; /* its number, 0: there is none */
  bool whole;      /* that one; it may be torn */
  bool alone;      /* it is torn, its beginning missing, and the one before is not here */
  bool only;       /* there is no other in the bank */
  bool complete;   /* without a gap from there back to the bank's start, unless `alone` */
};
/* `found`: frames in the order of their transactions; `first`: the bank's first segment. */
struct nvmi_records_end nvmi_records_end(const struct nvmi_array *found,
                                         const struct nvm_segment *first);
/* Whether all that were durable are there. */
bool nvmi_records_complete(const struct nvmi_records_end banks[2]);
/* Whether no slot is missing, and no segment that its chain led to when it had frames. */
bool nvmi_logs_complete(const struct nvm_pool *pool);
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

/* log.c: the checksum that belongs into a segment; whether it is what a chain may lead to. */
uint64_t nvmi_segment_check(const struct nvm_pool *pool, const struct nvm_segment *segment);
bool nvmi_segment_valid(const struct nvm_pool *pool, uint64_t at, unsigned slot, unsigned bank,
                        unsigned position);

/* Calls `visit` for each segment of a bank; false: the chain leads astray. */
typedef void nvmi_visit_segment(void *context, const struct nvm_segment *segment);
bool nvmi_each_segment(const struct nvm_pool *pool, unsigned slot, unsigned bank,
                       nvmi_visit_segment *visit, void *context);
