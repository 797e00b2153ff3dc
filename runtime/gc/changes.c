/* changes.c: see changes.h. */
#include "gc/changes.h"
#include "types/judged.h"

#include "base/sort.h"
#include "core/piece.h"
#include "gc/counts.h"
#include "heap/fates.h"
#include "heap/heap_types.h"
#include "log/log.h"
#include "types/types.h"
#include "types/words.h"

#include <string.h>
#include <sys/mman.h>

enum { WORD = sizeof(uint64_t), FEW = 64 };

/* Of a type: not asked yet; holds no references; each word says by itself what it is; not so. */
enum nvmi_shape { UNKNOWN, EMPTY, PLAIN, CAREFUL };

struct scan {
  struct nvmi_log *log;
  struct nvmi_count_scratch *scratch;
  struct nvm_pool *pool;
  struct nvmi_fates fates;
  bool incomplete; /* out of memory */
};

static void add(struct scan *scan, uint64_t before, uint64_t after) {
  struct nvm_reference reference = {before, after};
  if (before != after && !nvmi_array_push(&scan->scratch->references, &reference, sizeof reference))
    scan->incomplete = true;
}

static uint64_t reference_to(const struct nvm_pool *pool, uint64_t address) {
  const struct nvm_header *h = &pool->header;
  uint64_t offset = address - h->base;
  return offset - h->heap_offset < h->range - h->heap_offset ? offset & ~UINT64_C(15) : 0;
}

uint64_t nvmi_reference_of(const struct nvm_pool *pool, const struct nvm_field *field,
                           uint64_t value) {
  uint64_t to = reference_to(pool, value & ~field->tag);
  switch (field->kind) {
  case NVM_FIELD_POINTER:
  case NVM_FIELD_EITHER:
  case NVM_FIELD_UNION:
    return to;
  case NVM_FIELD_WEAK_POINTER:
    return to ? to | NVM_REFERENCE_WEAK : 0;
  default:
    return 0;
  }
}

struct visit {
  struct nvm_pool *pool;
  nvmi_visit_reference *visit;
  void *context;
};

static bool visit_word(void *context, const struct nvmi_word *word) {
  const struct visit *visit = context;
  uint64_t to = nvmi_reference_of(visit->pool, word->field, nvmi_word_value(word));
  if (to)
    visit->visit(visit->context, to);
  return true;
}

/* As reach.c: addresses of the reserved range have one byte in common. */
static void visit_bytes(const struct visit *visit, const char *bytes, uint64_t size) {
  enum { AT = 5 };
  const char *at = bytes + AT, *end = bytes + size - (WORD - 1 - AT);
  int common = (int)(NVM_RANGE_BASE >> 40 & 0xff);
  for (; size >= WORD && at < end && (at = memchr(at, common, (size_t)(end - at))); at++) {
    uint64_t value, to;
    memcpy(&value, at - AT, sizeof value);
    if ((to = reference_to(visit->pool, value)))
      visit->visit(visit->context, to);
  }
}

void nvmi_each_reference(struct nvm_pool *pool, unsigned type, const char *bytes, uint64_t size,
                         nvmi_visit_reference *visit, void *context) {
  struct visit all = {pool, visit, context};
  const struct nvm_type *layout = nvmi_type_layout(pool, type);
  if (layout)
    nvmi_block_words(pool, layout, (char *)(uintptr_t)bytes, size, visit_word, &all);
  else
    visit_bytes(&all, bytes, size);
}

static enum nvmi_shape shape_of_layout(const struct nvm_pool *pool, const struct nvm_type *type) {
  enum nvmi_shape shape = EMPTY;
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    enum nvmi_shape one = PLAIN;
    if (field->kind == NVM_FIELD_VOLATILE)
      continue;
    if (field->kind == NVM_FIELD_FLEXIBLE_ARRAY) {
      const struct nvm_type *element = nvmi_type_by_id(pool, field->target);
      one = element && element != type && element->size ? shape_of_layout(pool, element) : EMPTY;
      if (one == PLAIN && (field->offset % WORD || element->size % WORD))
        one = CAREFUL;
    } else if (field->when || field->offset % WORD || field->stride % WORD || type->size % WORD ||
               field->kind == NVM_FIELD_XOR) {
      one = CAREFUL;
    }
    shape = one > shape ? one : shape;
  }
  return shape;
}

static enum nvmi_shape shape_of(struct nvm_pool *pool, unsigned type) {
  uint8_t *known = &pool->counts->plain[type];
  if (NVMI_UNLIKELY(__atomic_load_n(known, __ATOMIC_RELAXED) == UNKNOWN)) {
    const struct nvm_type *layout = nvmi_type_layout(pool, type);
    __atomic_store_n(known, (uint8_t)(layout ? shape_of_layout(pool, layout) : CAREFUL),
                     __ATOMIC_RELAXED);
  }
  return (enum nvmi_shape)__atomic_load_n(known, __ATOMIC_RELAXED);
}

static int by_place(const void *a, const void *b) {
  const struct nvmi_piece *x = a, *y = b;
  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

static void sort(struct nvmi_piece *pieces, size_t count) {
  if (count > FEW) {
    nvmi_sort(pieces, count, sizeof *pieces, by_place);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    struct nvmi_piece moved = pieces[i];
    size_t at = i;
    for (; at && by_place(&moved, &pieces[at - 1]) < 0; at--)
      pieces[at] = pieces[at - 1];
    pieces[at] = moved;
  }
}

/* One piece a word, its `known` the word before and `bytes` the word after; those that stay as they
 * were are dropped. */
static size_t merge(struct nvmi_piece *pieces, size_t count, bool are_old) {
  size_t kept = 0;
  sort(pieces, count);
  for (size_t i = 0; i < count;) {
    struct nvmi_piece word = pieces[i];
    uint64_t value = word.known;
    for (; i < count && pieces[i].offset == word.offset; i++)
      value = (value & ~pieces[i].mask) | (pieces[i].bytes & pieces[i].mask);
    word.bytes = are_old ? word.known : value;
    word.known = are_old ? value : word.known;
    if (word.known != word.bytes)
      pieces[kept++] = word;
  }
  return kept;
}

/* Bytes [offset, offset + size) of the file without what the transaction wrote, taken once for both
 * images: other threads go on. A private view may have what others have not committed, and the
 * pieces lack words that the transaction made what the file says. */
static bool take_base(struct scan *scan, uint64_t offset, uint64_t size) {
  const struct nvm_pool *pool = scan->pool;
  if (!nvmi_array_reserve(&scan->scratch->base, size, 1) ||
      !nvmi_array_reserve(&scan->scratch->image, size, 1))
    return !(scan->incomplete = true);
  memcpy(scan->scratch->base.items, (pool->method->entries ? pool->work : pool->home) + offset,
         size);
  return true;
}

/* The base as it was before the transaction, or is behind it. */
static void take_image(struct scan *scan, uint64_t offset, uint64_t size, bool before) {
  struct nvmi_array *image = &scan->scratch->image;
  memcpy(image->items, scan->scratch->base.items, size);
  const struct nvmi_piece *pieces = scan->scratch->pieces.items;
  size_t low = 0, high = scan->scratch->pieces.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (pieces[middle].offset + WORD <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < scan->scratch->pieces.count && pieces[low].offset < offset + size; low++) {
    uint64_t word = before ? pieces[low].known : pieces[low].bytes;
    for (unsigned i = 0; i < WORD; i++)
      if (pieces[low].offset + i - offset < size)
        ((char *)image->items)[pieces[low].offset + i - offset] = (char)(word >> 8 * i);
  }
}

struct listing {
  struct scan *scan;
  struct nvmi_array *found; /* uint64_t */
};

static void list_reference(void *context, uint64_t to) {
  const struct listing *listing = context;
  if (!nvmi_array_push(listing->found, &to, sizeof to))
    listing->scan->incomplete = true;
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* What an image of a block, or of part of it, refers to, sorted. */
static const uint64_t *list(struct scan *scan, unsigned type, uint64_t offset, uint64_t size,
                            bool before, size_t *count) {
  struct listing listing = {scan, &scan->scratch->listed[before]};
  listing.found->count = 0;
  take_image(scan, offset, size, before);
  nvmi_each_reference(scan->pool, type, scan->scratch->image.items, size, list_reference, &listing);
  *count = listing.found->count;
  if (*count > 1)
    nvmi_sort(listing.found->items, *count, sizeof(uint64_t), by_value);
  return listing.found->items;
}

/* `exists`: bit 0 before, bit 1 now. */
static void compare_images(struct scan *scan, unsigned type, uint64_t offset, uint64_t size,
                           unsigned exists) {
  size_t before = 0, after = 0, i = 0, j = 0;
  if (!take_base(scan, offset, size))
    return;
  const uint64_t *a = exists & 1 ? list(scan, type, offset, size, true, &before) : NULL;
  const uint64_t *b = exists & 2 ? list(scan, type, offset, size, false, &after) : NULL;
  while (i < before || j < after) {
    if (j == after || (i < before && a[i] < b[j]))
      add(scan, a[i++], 0);
    else if (i == before || b[j] < a[i])
      add(scan, 0, b[j++]);
    else
      i++, j++;
  }
}

struct block {
  uint64_t start, end; /* in the file */
  unsigned type;
  enum nvmi_shape shape;
  bool counts; /* was there before, and is afterwards */
};

/* Allocated, or freed by a transaction that has not committed: the file's word is still there. */
static bool exists(const struct nvm_pool *pool, const struct nvmi_span *span, uint32_t index) {
  if (nvmi_is_live(span, index))
    return true;
  if (span->class < NVMI_CLASSES)
    return ((const uint16_t *)(pool->home + nvmi_chunk_offset(pool, span->chunk)))[index];
  return (*nvmi_chunk_word(pool, span->chunk) & 0xff) == NVM_CHUNK_LARGE;
}

/* The block, or what lies between blocks, around a word of the heap. That another transaction frees
 * it is no matter here: when that one commits it finds what this one stored. */
static struct block block_around(struct scan *scan, uint64_t offset) {
  uint64_t inside;
  uint32_t index;
  const struct nvmi_span *span = nvmi_block_at(scan->pool, offset, &index, &inside);
  if (!span || !exists(scan->pool, span, index) || nvmi_fate_of(&scan->fates, span, index))
    return (struct block){.start = offset, .end = offset + WORD};
  unsigned type = span->words[index] - 1u;
  return (struct block){offset - inside, offset - inside + nvmi_block_size(span), type,
                        shape_of(scan->pool, type), true};
}

static bool has_tags(const struct nvm_type *type) {
  for (uint32_t i = 0; i < type->field_count; i++)
    if (type->fields[i].tag)
      return true;
  return false;
}

static void look_at_word(struct scan *scan, const struct block *block,
                         const struct nvmi_piece *piece) {
  const struct nvm_type *type = nvmi_type_layout(scan->pool, block->type);
  if (!reference_to(scan->pool, piece->known) && !reference_to(scan->pool, piece->bytes) &&
      !has_tags(type))
    return;
  const struct nvm_field *field = nvmi_pointer_field(
      scan->pool, type, scan->pool->work + block->start, piece->offset - block->start);
  if (field)
    add(scan, nvmi_reference_of(scan->pool, field, piece->known),
        nvmi_reference_of(scan->pool, field, piece->bytes));
}

/* The part of a block that decides about its words from `from` to `to`: with a type its records,
 * without all places that an address may have that shares a byte with them. */
static void look_at_part(struct scan *scan, const struct block *block, uint64_t from, uint64_t to) {
  const struct nvm_type *type = nvmi_type_layout(scan->pool, block->type);
  uint64_t start = block->start, end = block->end;
  if (!type) {
    start = from - start < WORD ? start : from - WORD + 1;
    end = end - to < WORD ? end : to + WORD - 1;
  } else if (!nvmi_type_tail(type)) {
    start += (from - start) / type->size * type->size;
    uint64_t records = (to - start + type->size - 1) / type->size * type->size;
    end = records < end - start ? start + records : end;
  }
  compare_images(scan, block->type, start, end - start, 3);
}

static void look_at_pieces(struct scan *scan) {
  const struct nvmi_piece *pieces = scan->scratch->pieces.items;
  size_t count = scan->scratch->pieces.count;
  struct block block = {0};
  for (size_t i = 0; i < count;) {
    uint64_t offset = pieces[i].offset;
    if (offset < scan->pool->header.heap_offset) {
      if (offset == NVM_ROOT_OFFSET)
        add(scan, reference_to(scan->pool, pieces[i].known),
            reference_to(scan->pool, pieces[i].bytes));
      i++;
      continue;
    }
    if (offset >= block.end)
      block = block_around(scan, offset);
    size_t next = i + 1;
    if (block.counts && block.shape == PLAIN)
      look_at_word(scan, &block, &pieces[i]);
    else
      while (next < count && pieces[next].offset < block.end)
        next++;
    if (block.counts && block.shape == CAREFUL)
      look_at_part(scan, &block, offset, pieces[next - 1].offset + WORD);
    i = next;
  }
}

/* Most new blocks are linked at once, and no candidates. */
static bool is_linked(const struct scan *scan, uint64_t start) {
  const struct nvm_reference *references = scan->scratch->references.items;
  for (size_t i = 0; i < scan->scratch->references.count && i < FEW; i++)
    if (references[i].after == (start & ~UINT64_C(15)))
      return true;
  return false;
}

static void look_at_blocks(struct scan *scan) {
  const struct nvmi_intent *intents = scan->log->intents.list.items;
  for (size_t i = 0; i < scan->log->intents.list.count; i++) {
    struct nvmi_span *span = intents[i].span;
    unsigned fate = nvmi_fate_of(&scan->fates, span, intents[i].index);
    if (fate != NVMI_FATE_FREES && fate != NVMI_FATE_ALLOCATES)
      continue;
    uint64_t start = nvmi_chunk_offset(scan->pool, span->chunk) + span->first +
                     (uint64_t)intents[i].index * span->block_size;
    unsigned type = span->words[intents[i].index] - 1u;
    if (shape_of(scan->pool, type) != EMPTY)
      compare_images(scan, type, start, nvmi_block_size(span), fate);
    if (fate == NVMI_FATE_ALLOCATES && !is_linked(scan, start))
      add(scan, start | NVM_REFERENCE_NEW, 0);
  }
}

struct nvmi_count_scratch *nvmi_count_scratch_make(void) {
  return nvmi_dram_reserve(NVM_SLOTS_MAX * sizeof(struct nvmi_count_scratch));
}

void nvmi_count_scratch_free(struct nvmi_count_scratch *all) {
  for (unsigned slot = 0; slot < NVM_SLOTS_MAX; slot++) {
    nvmi_array_free(&all[slot].pieces, sizeof(struct nvmi_piece));
    nvmi_array_free(&all[slot].references, sizeof(struct nvm_reference));
    nvmi_array_free(&all[slot].base, 1);
    nvmi_array_free(&all[slot].image, 1);
    nvmi_array_free(&all[slot].listed[0], sizeof(uint64_t));
    nvmi_array_free(&all[slot].listed[1], sizeof(uint64_t));
    nvmi_array_free(&all[slot].record, 1);
  }
  munmap(all, NVM_SLOTS_MAX * sizeof *all);
}

enum nvm_error nvmi_changes(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  struct scan scan = {.log = log, .scratch = nvmi_count_scratch(log), .pool = log->pool};
  const struct nvmi_method *method = log->pool->method;
  scan.scratch->references.count = 0;
  scan.scratch->pieces.count = 0;
  scan.incomplete = !method->pieces(log, lines, count, &scan.scratch->pieces);
  scan.scratch->pieces.count =
      merge(scan.scratch->pieces.items, scan.scratch->pieces.count, method->entries);
  scan.incomplete |= !nvmi_fates_start(&scan.fates, log);
  look_at_pieces(&scan);
  look_at_blocks(&scan);
  nvmi_fates_end(&scan.fates);
  if (!scan.incomplete)
    return NVM_OK;
  nvmi_fail(NVM_ENOMEMORY, log->pool->path, "out of memory for a transaction's references");
  return NVM_ENOMEMORY;
}
