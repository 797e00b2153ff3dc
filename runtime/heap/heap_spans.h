/* heap_spans.h: spans in DRAM, with what open transactions have claimed in them. */
#pragma once

#include "heap/heap_types.h"

uint32_t nvmi_class_of(size_t size);
/* Geometry of a class: fills blocks, block_size, first, chunks. */
void nvmi_span_shape(struct nvmi_span *span, uint32_t class);
/* Fills the heap's table of them. */
void nvmi_heap_geometries(struct nvmi_heap *heap);
/* Fills the table of chunks for a run of blocks whose own table was not read yet. */
void nvmi_span_tell(struct nvmi_heap *heap, uint32_t class, uint32_t chunk, uint32_t chunks);
/* The span that a chunk belongs to, read from the file if need be; null: none, or (in a forked
 * child) not read. */
struct nvmi_span *nvmi_span_at(struct nvm_pool *pool, const struct nvmi_chunk *chunk);
struct nvmi_span *nvmi_span_new(struct nvm_pool *pool, uint32_t class, uint32_t chunk,
                                uint32_t chunks);
/* A span of the class with free blocks, owned by the caller. Null: recorded. */
struct nvmi_span *nvmi_span_acquire(struct nvm_pool *pool, uint32_t class);
/* Its log has no more use for it. */
void nvmi_span_give_up(struct nvm_pool *pool, struct nvmi_span *span);
/* A block of a full span without owner came free: the class may use it. */
void nvmi_span_offer(struct nvm_pool *pool, struct nvmi_span *span);
/* A block comes free, for any log. */
void nvmi_span_put(struct nvm_pool *pool, struct nvmi_span *span, uint32_t index, bool solo);
void nvmi_span_drop(struct nvmi_heap *heap, struct nvmi_span *span);
