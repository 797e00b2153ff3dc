/* heap_runs.h: free runs of chunks, in DRAM. Holder of the heap's lock. */
#pragma once

#include "heap/heap_types.h"

void nvmi_runs_add(struct nvmi_heap *heap, uint32_t first, uint32_t count);
uint32_t nvmi_runs_take(struct nvmi_heap *heap, uint32_t count, uint32_t *length);
/* Chunks of the free run that ends the heap; 0: none. Takes those from `chunk` on out of it. */
uint32_t nvmi_runs_last(const struct nvmi_heap *heap);
void nvmi_runs_cut(struct nvmi_heap *heap, uint32_t chunk);
