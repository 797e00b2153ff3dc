/* block_map.h: the blocks of a heap that nobody changes meanwhile, by address. */
#pragma once

#include "types/words.h"

/* Finds the block that holds a byte of the file, in a heap that nobody changes meanwhile. */
struct nvmi_block_map {
  const struct nvm_pool *pool;
  uint32_t *run; /* of each chunk: where its run starts, + 1; 0: it holds no blocks */
  size_t chunks;
  struct nvmi_class_shape {
    uint32_t first, block_size, blocks; /* as in struct nvmi_span */
  } shapes[NVMI_CLASSES];
};
/* -1: recorded; nothing is left to free. */
int nvmi_block_map_make(struct nvmi_block_map *map, struct nvm_pool *pool);
void nvmi_block_map_free(struct nvmi_block_map *map);
/* Has the processor fetch what a question about this byte of the heap will need. */
void nvmi_block_map_fetch(const struct nvmi_block_map *map, uint64_t offset);
/* False: no allocated block lies there. */
bool nvmi_block_map_find(const struct nvmi_block_map *map, uint64_t offset,
                         struct nvmi_block *block);
