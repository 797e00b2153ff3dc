/* fates.h: what the open transaction does to a block: its intents, found by block. */
#pragma once

#include "heap/heap_types.h"

/* Bits; a block that is allocated and freed has lived within the transaction. */
enum { NVMI_FATE_FREES = 1, NVMI_FATE_ALLOCATES = 2, NVMI_FATE_LOCAL = 4 };

struct nvmi_fates {
  const struct nvmi_array *intents;
  struct nvmi_array sorted; /* empty where the intents are few */
};

/* When the intents are complete. False: out of memory. */
bool nvmi_fates_start(struct nvmi_fates *fates, const struct nvmi_log *log);
void nvmi_fates_end(struct nvmi_fates *fates);

/* 0: nothing. */
unsigned nvmi_fate_of(const struct nvmi_fates *fates, const struct nvmi_span *span, uint32_t index);
