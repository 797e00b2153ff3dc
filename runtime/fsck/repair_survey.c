/* repair_survey.c: see repair.h. One thread, in an image that nobody changes meanwhile; what nobody
 * decides is followed, and counted apart from what types say (reach.c, check_words.c).
 */
#include "fsck/repair.h"
#include "heap/heap_chunks.h"
#include "heap/heap_spans.h"
#include "types/block_map.h"

#include "format/address.h"
#include "heap/heap_types.h"
#include "symbols/statics.h"
#include "types/types.h"

#include <string.h>
#include <sys/mman.h>

/* All runs from `chunk` on up to the first that is none, which it gives, or the end. */
static uint32_t map_runs(struct nvmi_survey *survey, uint32_t chunk) {
  struct nvm_pool *pool = survey->repair->pool;
  struct nvmi_block_map *map = &survey->map;
  for (uint32_t count; chunk < map->chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk), kind = word & 0xff;
    if (nvmi_chunk_fault(pool, word, (uint32_t)map->chunks - chunk))
      break;
    count = word ? (uint32_t)(word >> 32) : 1;
    for (uint32_t i = 0; i < count && (kind == NVM_CHUNK_SMALL || kind == NVM_CHUNK_LARGE); i++)
      map->run[chunk + i] = chunk + 1;
  }
  return chunk;
}

bool nvmi_survey_make(struct nvmi_survey *survey, struct nvmi_repair *repair, uint32_t resume) {
  struct nvm_pool *pool = repair->pool;
  *survey = (struct nvmi_survey){.repair = repair};
  struct nvmi_block_map *map = &survey->map;
  map->pool = pool;
  map->chunks = pool->header.heap_size >> NVM_CHUNK_SHIFT;
  map->run = nvmi_dram_reserve(map->chunks * sizeof *map->run);
  survey->marks = nvmi_dram_reserve(pool->header.heap_size >> 7);
  if (!map->run || !survey->marks) {
    nvmi_survey_free(survey);
    nvmi_left(repair, "out of memory for a map of its blocks");
    return false;
  }
  for (uint32_t class = 0; class < NVMI_CLASSES; class ++) {
    struct nvmi_span shape;
    nvmi_span_shape(&shape, class);
    map->shapes[class] = (struct nvmi_class_shape){shape.first, shape.block_size, shape.blocks};
  }
  uint32_t end = map_runs(survey, 0);
  if (resume)
    end = map_runs(survey, resume);
  survey->unmapped = (uint32_t)map->chunks - end;
  survey->end = nvmi_chunk_offset(pool, end);
  return true;
}

void nvmi_survey_free(struct nvmi_survey *survey) {
  nvmi_block_map_free(&survey->map);
  if (survey->marks)
    munmap(survey->marks, survey->repair->pool->header.heap_size >> 7);
  nvmi_array_free(&survey->stack, sizeof(uint64_t));
  survey->marks = NULL;
}

/* Counts where a value leads; true: to a block. What lies behind the map's end nobody knows. */
static bool judge(struct nvmi_survey *survey, uint64_t offset, bool judged,
                  struct nvmi_block *block) {
  uint64_t heap = survey->repair->pool->header.heap_offset;
  bool here = offset - survey->from < survey->to - survey->from;
  if (offset >= survey->end)
    return false;
  survey->led += here;
  if (offset >= heap && nvmi_block_map_find(&survey->map, offset, block)) {
    bool starts = offset == block->offset;
    survey->inside += judged && !starts;
    survey->loose += !judged && !starts;
    survey->starts += here && starts;
    return true;
  }
  /* The end of an array is no fault; what begins a run is no such end. */
  bool ends = offset > heap && nvmi_block_map_find(&survey->map, offset - 1, block);
  survey->astray += judged && !ends;
  survey->loose += !judged && !ends;
  survey->given_up += here && (!ends || offset == survey->from);
  return false;
}

static bool follow(struct nvmi_survey *survey, uint64_t value, uint64_t target, bool judged) {
  const struct nvm_header *header = &survey->repair->pool->header;
  struct nvmi_block block;
  uint64_t offset;
  if (!nvmi_pointer_offset(header, value, &offset) || !judge(survey, offset, judged, &block))
    return true;
  if (judged && offset == block.offset && survey->arrive)
    survey->arrive(survey->context, offset, target);
  uint64_t granule = (block.offset - header->heap_offset) >> 4;
  if (survey->marks[granule / 64] >> granule % 64 & 1)
    return true;
  survey->marks[granule / 64] |= UINT64_C(1) << granule % 64;
  if (!nvmi_array_push(&survey->stack, &block.offset, sizeof block.offset))
    survey->hidden = true;
  return true;
}

static bool follow_word(void *context, const struct nvmi_word *word) {
  struct nvmi_survey *survey = context;
  uint64_t value = nvmi_word_value(word) & ~word->field->tag;
  switch (word->field->kind) {
  case NVM_FIELD_POINTER:
  case NVM_FIELD_WEAK_POINTER:
    return follow(survey, value, word->field->target, true);
  case NVM_FIELD_EITHER:
  case NVM_FIELD_UNION:
    return follow(survey, value, 0, false);
  case NVM_FIELD_XOR:
    survey->hidden |= value != 0;
    return true;
  default:
    return true;
  }
}

static void follow_bytes(struct nvmi_survey *survey, const char *bytes, uint64_t size) {
  for (uint64_t at = 0; at + sizeof(uint64_t) <= size; at++) {
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    if (value - NVM_RANGE_BASE < NVM_RANGE_SIZE)
      follow(survey, value, 0, false);
  }
}

void nvmi_survey_run(struct nvmi_survey *survey) {
  struct nvm_pool *pool = survey->repair->pool;
  struct nvmi_block block;
  follow(survey, *(uint64_t *)(pool->home + NVM_ROOT_OFFSET), 0, true);
  while (survey->stack.count) {
    uint64_t offset = ((uint64_t *)survey->stack.items)[--survey->stack.count];
    if (!nvmi_block_map_find(&survey->map, offset, &block))
      continue;
    const struct nvm_type *type = nvmi_type_layout(pool, block.type);
    if (type)
      nvmi_block_words(pool, type, pool->home + block.offset, block.size, follow_word, survey);
    else
      follow_bytes(survey, pool->home + block.offset, block.size);
  }
}
