/* words.c: blocks of a run, and the words of a block: see words.h. */
#include "types/words.h"
#include "heap/heap_spans.h"

#include "heap/heap_types.h"
#include "types/types.h"

#include <string.h>

enum { AHEAD = 8 }; /* blocks: what memory needs to answer */

bool nvmi_run_blocks(const struct nvm_pool *pool, uint32_t chunk, nvmi_visit_block *visit,
                     void *context) {
  uint64_t word = *nvmi_chunk_word(pool, chunk);
  uint64_t start = nvmi_chunk_offset(pool, chunk);
  if ((word & 0xff) == NVM_CHUNK_LARGE) {
    struct nvmi_block block = {start, word >> 32 << NVM_CHUNK_SHIFT, word >> 16 & 0xffff};
    return visit(context, &block);
  }
  if ((word & 0xff) != NVM_CHUNK_SMALL)
    return true;
  struct nvmi_span shape;
  nvmi_span_shape(&shape, word >> 8 & 0xff);
  const uint16_t *table = (const void *)(pool->home + start);
  for (uint32_t i = 0; i < shape.blocks; i++) {
    struct nvmi_block block = {start + shape.first + (uint64_t)i * shape.block_size,
                               shape.block_size, table[i] - 1u};
    __builtin_prefetch(pool->home + block.offset + (uint64_t)AHEAD * shape.block_size);
    if (table[i] && !visit(context, &block))
      return false;
  }
  return true;
}

/* As many bytes as 64 bits may touch. */
typedef unsigned __int128 deciding_bytes;

static bool holds(const struct nvm_when *when, deciding_bytes bytes) {
  uint64_t mask = UINT64_MAX >> (64 - when->bits);
  uint64_t value = (uint64_t)(bytes >> when->first_bit) & mask;
  for (uint32_t i = 0; i < when->count; i++)
    if (((uint64_t)when->values[i] & mask) == value)
      return !when->unless;
  return when->unless;
}

struct nvmi_deciding nvmi_field_decided_by(const struct nvm_field *field, uint64_t record,
                                           uint64_t index) {
  const struct nvm_when *when = field->when;
  uint64_t from = record + when->offset + (when->follows ? index * field->stride : 0);
  return (struct nvmi_deciding){from, from + (when->first_bit + when->bits + 7u) / 8};
}

bool nvmi_field_holds(const struct nvm_field *field, const char *record, uint64_t index) {
  if (!field->when)
    return true;
  struct nvmi_deciding at = nvmi_field_decided_by(field, 0, index);
  deciding_bytes bytes = 0;
  memcpy(&bytes, record + at.from, at.to - at.from);
  return holds(field->when, bytes);
}

bool nvmi_field_holds_in(const struct nvm_field *field, const struct nvmi_view *view,
                         uint64_t record, uint64_t index) {
  if (!field->when)
    return true;
  struct nvmi_deciding at = nvmi_field_decided_by(field, record, index);
  deciding_bytes bytes = 0;
  view->read(view->context, at.from, &bytes, at.to - at.from);
  return holds(field->when, bytes);
}

static void read_memory(const void *context, uint64_t at, void *to, size_t size) {
  memcpy(to, (const char *)context + at, size);
}

struct nvmi_view nvmi_view_of(const char *memory) {
  return (struct nvmi_view){read_memory, memory};
}

struct walk {
  nvmi_visit_word *visit;
  void *context;
  const struct nvm_type *type;
  const char *end; /* of the block */
};

/* The condition of a word in the block, if what decides about it lies there, too. */
static bool holds_inside(const struct walk *walk, const struct nvm_field *field, const char *record,
                         uint32_t index) {
  return !field->when ||
         (nvmi_field_decided_by(field, 0, index).to <= (uint64_t)(walk->end - record) &&
          nvmi_field_holds(field, record, index));
}

static bool visit_field(const struct walk *walk, const struct nvm_field *field, char *record) {
  uint64_t room = (uint64_t)(walk->end - record), at = field->offset;
  for (uint32_t i = 0; i < field->count && at + sizeof(uint64_t) <= room;
       i++, at += field->stride) {
    struct nvmi_word word = {record + at, walk->type, field};
    if (holds_inside(walk, field, record, i) && !walk->visit(walk->context, &word))
      return false;
  }
  return true;
}

/* One record, as far as the block has it, without its flexible array. */
static bool visit_record(const struct walk *walk, char *record) {
  const struct nvm_type *type = walk->type;
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    if (field->kind != NVM_FIELD_FLEXIBLE_ARRAY && field->kind != NVM_FIELD_VOLATILE &&
        !visit_field(walk, field, record))
      return false;
  }
  return true;
}

/* The block may be shorter than its type: a program allocates no more of the last member than it
 * needs. */
bool nvmi_block_words(const struct nvm_pool *pool, const struct nvm_type *type, char *block,
                      uint64_t size, nvmi_visit_word *visit, void *context) {
  struct walk walk = {visit, context, type, block + size};
  if (!type->field_count || !type->size)
    return true;
  const struct nvm_field *tail = nvmi_type_tail(type);
  for (uint64_t at = 0; at < size && (!at || !tail); at += type->size)
    if (!visit_record(&walk, block + at))
      return false;
  const struct nvm_type *element = tail ? nvmi_type_by_id(pool, tail->target) : NULL;
  if (!element || !element->field_count || !element->size)
    return true;
  walk.type = element;
  for (uint64_t at = tail->offset; at < size; at += element->size)
    if (!visit_record(&walk, block + at))
      return false;
  return true;
}
