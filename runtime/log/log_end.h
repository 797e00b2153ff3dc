/* log_end.h: where a log ends, and whether all that was durable is there. */
#pragma once

#include "core/pool.h"

/* Whether the frames that were found of a transaction to be undone are all that were
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
