/* repair_blocks.c: blocks whose type is none of the table's, and a root that leads to none.
 *
 * Such a block is allocated, that much is known. Its type is what the field says that leads to
 * where it starts; where none does it becomes a block without type when that was asked for: pointers
 * to the program in it are not bound anew then.
 *
 * The root stands there twice. Where the two differ in one byte the one is right that leads to a
 * block. Where they differ in more, both may be wrong, and the one only counts when it leads to a
 * block that no other leads to. Else such blocks are named, and somebody has to say.
 */
#include "fsck/repair.h"
#include "heap/heap_spans.h"
#include "types/block_map.h"

#include "format/address.h"
#include "heap/heap_types.h"
#include "pool/root.h"
#include "types/types.h"

#include <stdio.h>
#include <string.h>

/* One of them. */
struct doubt {
  uint64_t offset;
  uint16_t *word;  /* in its span's table, or in that of the heap */
  uint16_t none;   /* what it says meanwhile: without type */
  uint16_t before; /* the word */
  unsigned type;   /* 0: not known */
};

struct doubts {
  struct nvmi_repair *repair;
  struct nvmi_array all; /* struct doubt, by offset */
  bool learned;
};

static unsigned index_of(const struct nvm_pool *pool, uint64_t id) {
  for (unsigned index = 1; id && index < pool->type_count; index++)
    if (pool->type_ids[index] == id)
      return index;
  return 0;
}

static void learn(void *context, uint64_t offset, uint64_t target) {
  struct doubts *doubts = context;
  struct doubt *all = doubts->all.items;
  size_t low = 0, high = doubts->all.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (all[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  unsigned type = index_of(doubts->repair->pool, target);
  if (low == doubts->all.count || all[low].offset != offset || all[low].type || !type)
    return;
  all[low].type = type;
  *all[low].word = (uint16_t)(all[low].none + type);
  doubts->learned = true; /* and so what it holds may be, too */
}

static bool find_in_span(struct doubts *doubts, uint32_t chunk, uint32_t class) {
  struct nvm_pool *pool = doubts->repair->pool;
  struct nvmi_span shape;
  nvmi_span_shape(&shape, class);
  uint64_t at = nvmi_chunk_offset(pool, chunk);
  uint16_t *table = (uint16_t *)(void *)(pool->home + at);
  for (uint32_t i = 0; i < shape.blocks; i++) {
    struct doubt doubt = {.offset = at + shape.first + (uint64_t)i * shape.block_size,
                          .word = &table[i],
                          .none = 1,
                          .before = table[i]};
    if (table[i] <= 1 || table[i] - 1u < pool->type_count)
      continue;
    if (!nvmi_array_push(&doubts->all, &doubt, sizeof doubt))
      return false;
    table[i] = 1;
  }
  return true;
}

static bool find_large(struct doubts *doubts, uint32_t chunk) {
  struct nvm_pool *pool = doubts->repair->pool;
  const struct nvmi_typeless *typeless = doubts->repair->typeless.items;
  for (size_t i = 0; i < doubts->repair->typeless.count; i++) {
    struct doubt doubt = {.offset = nvmi_chunk_offset(pool, chunk),
                          .word = (uint16_t *)(void *)nvmi_chunk_word(pool, chunk) + 1,
                          .before = typeless[i].type};
    if (typeless[i].chunk == chunk)
      return nvmi_array_push(&doubts->all, &doubt, sizeof doubt);
  }
  return true;
}

static bool find(struct doubts *doubts) {
  struct nvm_pool *pool = doubts->repair->pool;
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    count = word ? (uint32_t)(word >> 32) : 1;
    if (((word & 0xff) == NVM_CHUNK_SMALL && !find_in_span(doubts, chunk, word >> 8 & 0xff)) ||
        ((word & 0xff) == NVM_CHUNK_LARGE && !find_large(doubts, chunk)))
      return false;
  }
  return true;
}

/* False: the table of the heap is damaged as before. */
static bool decide(struct nvmi_repair *repair, const struct doubt *doubt) {
  unsigned long long offset = doubt->offset;
  if (doubt->type) {
    nvmi_mended(repair, "block at %#llx: of type %s, as what leads to it says", offset,
                nvmi_type_name(repair->pool, doubt->type));
  } else if (repair->how->forget_types) {
    nvmi_mended(repair, "block at %#llx: its type is lost; it is without type from now on", offset);
  } else {
    *doubt->word = doubt->before;
    nvmi_left(repair,
              "block at %#llx: its type is lost, and nothing that leads to it says which it was "
              "(--forget-types makes it one without type)",
              offset);
    return doubt->none;
  }
  return true;
}

bool nvmi_repair_blocks(struct nvmi_repair *repair) {
  struct doubts doubts = {.repair = repair};
  bool found = find(&doubts), sound = found;
  if (!found)
    nvmi_left(repair, "out of memory for a list of its blocks");
  do {
    struct nvmi_survey survey;
    doubts.learned = false;
    if (!doubts.all.count || !found || !nvmi_survey_make(&survey, repair, 0))
      break;
    survey.arrive = learn;
    survey.context = &doubts;
    nvmi_survey_run(&survey);
    nvmi_survey_free(&survey);
  } while (doubts.learned);
  for (size_t i = 0; i < doubts.all.count; i++)
    sound &= decide(repair, &((struct doubt *)doubts.all.items)[i]);
  nvmi_array_free(&doubts.all, sizeof(struct doubt));
  return sound;
}

/* What other blocks lead to, as the root of each in turn would find it. */
struct heads {
  struct nvmi_repair *repair;
  struct nvmi_survey *survey;
  char names[200];
  unsigned count;
};

static bool name_head(void *context, const struct nvmi_block *block) {
  struct heads *heads = context;
  const struct nvm_pool *pool = heads->repair->pool;
  uint64_t granule = (block->offset - pool->header.heap_offset) >> 4;
  size_t used = strlen(heads->names);
  if (heads->survey->marks[granule / 64] >> granule % 64 & 1)
    return true;
  if (heads->count++ < 3)
    snprintf(heads->names + used, sizeof heads->names - used, "%s%#llx (%s)", used ? ", " : "",
             (unsigned long long)block->offset, nvmi_type_name(pool, block->type));
  return true;
}

struct leads {
  struct nvmi_survey *survey;
  const struct nvmi_block *from;
};

static void mark(struct leads *leads, uint64_t value) {
  const struct nvm_header *header = &leads->survey->repair->pool->header;
  struct nvmi_block block;
  uint64_t offset;
  if (nvmi_pointer_offset(header, value, &offset) && offset >= header->heap_offset &&
      nvmi_block_map_find(&leads->survey->map, offset, &block) &&
      block.offset != leads->from->offset) {
    uint64_t granule = (block.offset - header->heap_offset) >> 4;
    leads->survey->marks[granule / 64] |= UINT64_C(1) << granule % 64;
  }
}

static bool mark_target(void *context, const struct nvmi_word *word) {
  mark(context, nvmi_word_value(word) & ~word->field->tag);
  return true;
}

/* What nobody describes may be pointers. */
static bool mark_targets(void *context, const struct nvmi_block *block) {
  struct leads leads = {context, block};
  const struct nvm_pool *pool = leads.survey->repair->pool;
  const struct nvm_type *type = nvmi_type_layout(pool, block->type);
  const uint64_t *words = (const void *)(pool->home + block->offset);
  for (uint64_t i = 0; !type && i < block->size / sizeof *words; i++)
    mark(&leads, words[i]);
  return !type ||
         nvmi_block_words(pool, type, pool->home + block->offset, block->size, mark_target, &leads);
}

static void each_block(struct nvmi_survey *survey, nvmi_visit_block *visit, void *context) {
  struct nvm_pool *pool = survey->repair->pool;
  for (uint32_t chunk = 0; chunk < survey->map.chunks; chunk++)
    if (survey->map.run[chunk] == chunk + 1)
      nvmi_run_blocks(pool, chunk, visit, context);
}

/* How well an offset does for a root: 2 the start of a block, 1 a place in one, 0 neither. */
static unsigned fitness(const struct nvmi_survey *survey, uint64_t offset) {
  struct nvmi_block block;
  if (offset < survey->repair->pool->header.heap_offset ||
      !nvmi_block_map_find(&survey->map, offset, &block))
    return 0;
  return 1 + (block.offset == offset);
}

static void set_root(struct nvmi_repair *repair, uint64_t offset, const char *why) {
  const struct nvm_header *h = &repair->pool->header;
  struct nvm_root_words *root = (void *)(repair->pool->home + NVM_ROOT_OFFSET);
  *root = (struct nvm_root_words){h->base + offset, nvmi_root_twin(h, offset)};
  nvmi_mended(repair, "the root leads to %#llx%s", (unsigned long long)offset, why);
}

/* Whether the block at `offset` begins there and no other leads to it, as is the case with most
 * roots and with few other blocks. */
static bool is_head(struct nvmi_survey *survey, uint64_t offset) {
  uint64_t granule = (offset - survey->repair->pool->header.heap_offset) >> 4;
  if (fitness(survey, offset) != 2)
    return false;
  each_block(survey, mark_targets, survey);
  return !(survey->marks[granule / 64] >> granule % 64 & 1);
}

/* Of address and twin the one that does better is right. False: there is no root to be had. */
static bool mend_root(struct nvmi_survey *survey, uint64_t address) {
  struct nvmi_repair *repair = survey->repair;
  const struct nvm_header *h = &repair->pool->header;
  uint64_t told = nvmi_root_told(repair->pool), wanted = repair->how->root, offset = 0;
  bool leads = nvmi_pointer_offset(h, address, &offset);
  unsigned own = leads ? fitness(survey, offset) : 0, other = fitness(survey, told);
  bool alone = nvmi_bytes_changed(address, h->base + told) == 1; /* so the other is right */
  if (own && leads && told == offset)
    return true;
  if (wanted && fitness(survey, wanted))
    set_root(repair, wanted, "");
  else if (own > other && (alone || is_head(survey, offset)))
    set_root(repair, offset, "; its copy was damaged");
  else if (other > own && (alone || is_head(survey, told)))
    set_root(repair, told, ", as its copy says");
  else
    return false;
  return true;
}

void nvmi_repair_root(struct nvmi_repair *repair) {
  uint64_t address = ((struct nvm_root_words *)(repair->pool->home + NVM_ROOT_OFFSET))->address;
  struct nvmi_survey survey;
  if ((!address && nvmi_root_is_sound(repair->pool)) || !nvmi_survey_make(&survey, repair, 0))
    return;
  if (!mend_root(&survey, address)) {
    struct heads heads = {repair, &survey, "", 0};
    each_block(&survey, mark_targets, &survey);
    each_block(&survey, name_head, &heads);
    nvmi_left(
        repair,
        "what the root was nothing says (%#llx, its copy %#llx); %u blocks have no other that "
        "leads to them%s%s (--root OFFSET makes one the root)",
        (unsigned long long)address, (unsigned long long)nvmi_root_told(repair->pool), heads.count,
        heads.count ? ": " : "", heads.names);
  }
  nvmi_survey_free(&survey);
}
