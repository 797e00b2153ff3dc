/* words.h: the words of a pool that are more than plain bytes, found from the types of its blocks.
 *
 * Block: what the file's tables say is allocated. Word: eight bytes of a block that a field of the
 * block's type describes, its condition included. A block may hold an array of its type; what
 * follows the first record of a type with a flexible array is that array. The last record may be
 * cut off by the block's end: its words are those that lie in the block. All is read through
 * `home`: for a pool that nobody writes to (opening, checking).
 */
#pragma once

#include "core/log_state.h"
#include "core/pool.h"

struct nvmi_block {
  uint64_t offset, size; /* in the file, bytes */
  unsigned type;         /* index in the pool's table; 0: untyped */
};
/* False ends the walk. */
typedef bool nvmi_visit_block(void *context, const struct nvmi_block *block);

/* The allocated blocks of the run that starts at `chunk`. False: a visit said so. */
bool nvmi_run_blocks(const struct nvm_pool *pool, uint32_t chunk, nvmi_visit_block *visit,
                     void *context);

struct nvmi_word {
  char *at; /* in `home`, perhaps not aligned */
  const struct nvm_type *type;
  const struct nvm_field *field;
};
typedef bool nvmi_visit_word(void *context, const struct nvmi_word *word);

/* The words of a block: nothing of volatile fields. False: a visit said so. */
bool nvmi_block_words(const struct nvm_pool *pool, const struct nvm_type *type, char *block,
                      uint64_t size, nvmi_visit_word *visit, void *context);

/* Bytes of records, wherever they are. */
struct nvmi_view {
  void (*read)(const void *context, uint64_t at, void *to, size_t size);
  const void *context;
};
/* Memory, from an address on. */
struct nvmi_view nvmi_view_of(const char *memory);
/* Of element `index` of the field of a record that begins at `record` of the view: where what
 * decides about it begins, and ends; and whether that says what the field says. */
struct nvmi_deciding {
  uint64_t from, to;
};
struct nvmi_deciding nvmi_field_decided_by(const struct nvm_field *field, uint64_t record,
                                           uint64_t index);
bool nvmi_field_holds_in(const struct nvm_field *field, const struct nvmi_view *view,
                         uint64_t record, uint64_t index);

/* Whether the condition of element `index` of a field of `record` is true. */
bool nvmi_field_holds(const struct nvm_field *field, const char *record, uint64_t index);

/* For messages: an element of an array of pointers has no name. */
static inline const char *nvmi_field_name(const struct nvm_field *field) {
  return *field->name ? field->name : "[]";
}

static inline uint64_t nvmi_word_value(const struct nvmi_word *word) {
  uint64_t value;
  __builtin_memcpy(&value, word->at, sizeof value);
  return value;
}
