/* block_map.c: from a byte of the file to its block (words.h). */
#include "types/block_map.h"

#include "heap/heap_chunks.h"
#include "heap/heap_spans.h"
#include "types/words.h"

#include "heap/heap_types.h"

#include <sys/mman.h>

int nvmi_block_map_make(struct nvmi_block_map *map, struct nvm_pool *pool) {
  if (nvmi_heap_ready(pool))
    return -1;
  *map = (struct nvmi_block_map){.pool = pool, .chunks = pool->header.heap_size >> NVM_CHUNK_SHIFT};
  map->run = nvmi_dram_reserve(map->chunks * sizeof *map->run);
  if (!map->run)
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for a map of its blocks");
  for (uint32_t class = 0; class < NVMI_CLASSES; class ++) {
    struct nvmi_span shape;
    nvmi_span_shape(&shape, class);
    map->shapes[class] = (struct nvmi_class_shape){shape.first, shape.block_size, shape.blocks};
  }
  for (uint32_t chunk = 0, count; chunk < map->chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk), kind = word & 0xff;
    count = word ? (uint32_t)(word >> 32) : 1;
    for (uint32_t i = 0; i < count && (kind == NVM_CHUNK_SMALL || kind == NVM_CHUNK_LARGE); i++)
      map->run[chunk + i] = chunk + 1;
  }
  return 0;
}

void nvmi_block_map_free(struct nvmi_block_map *map) {
  if (map->run)
    munmap(map->run, map->chunks * sizeof *map->run);
  map->run = NULL;
}

void nvmi_block_map_fetch(const struct nvmi_block_map *map, uint64_t offset) {
  const struct nvm_pool *pool = map->pool;
  uint32_t head = map->run[(offset - pool->header.heap_offset) >> NVM_CHUNK_SHIFT];
  if (!head)
    return;
  uint64_t word = *nvmi_chunk_word(pool, head - 1);
  uint64_t start = nvmi_chunk_offset(pool, head - 1);
  __builtin_prefetch(pool->home + offset);
  if ((word & 0xff) == NVM_CHUNK_SMALL) {
    const struct nvmi_class_shape *shape = &map->shapes[word >> 8 & 0xff];
    uint32_t index = (uint32_t)(offset - start - shape->first) / shape->block_size;
    __builtin_prefetch(pool->home + start + index * sizeof(uint16_t));
  }
}

bool nvmi_block_map_find(const struct nvmi_block_map *map, uint64_t offset,
                         struct nvmi_block *block) {
  const struct nvm_pool *pool = map->pool;
  uint64_t chunk = (offset - pool->header.heap_offset) >> NVM_CHUNK_SHIFT;
  uint32_t head = chunk < map->chunks ? map->run[chunk] : 0;
  if (!head)
    return false;
  uint64_t word = *nvmi_chunk_word(pool, head - 1);
  uint64_t start = nvmi_chunk_offset(pool, head - 1);
  if ((word & 0xff) == NVM_CHUNK_LARGE) {
    *block = (struct nvmi_block){start, word >> 32 << NVM_CHUNK_SHIFT, word >> 16 & 0xffff};
    return true;
  }
  const struct nvmi_class_shape *shape = &map->shapes[word >> 8 & 0xff];
  if (offset < start + shape->first)
    return false;
  uint32_t index = (uint32_t)(offset - start - shape->first) / shape->block_size;
  const uint16_t *table = (const void *)(pool->home + start);
  if (index >= shape->blocks || !table[index])
    return false;
  *block = (struct nvmi_block){start + shape->first + (uint64_t)index * shape->block_size,
                               shape->block_size, table[index] - 1u};
  return true;
}
