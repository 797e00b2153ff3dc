/* heap_claim.h: a block for a transaction. */
#pragma once

#include "heap/heap_types.h"

/* Claims a block of at least so many bytes for the log's transaction, as its intent,
 * valid until the next. `word`: 1 + its type. `*zero` is set: its bytes are. Null: recorded. */
struct nvmi_intent *nvmi_heap_claim(struct nvmi_log *log, size_t size, uint32_t word, bool *zero);
