/* judged.h: which fields of a type's records are judged at a commit. */
#pragma once

#include "core/pool.h"

/* Where a record of a type may have a pointer that is judged at a commit. A bit for each
 * of its first words, one for any later word; that some are decided or hidden (judge/judge.h); that it
 * ends in a flexible array; that all this is known. */
enum {
  NVMI_JUDGED_LATER_BIT = 58,
  NVMI_JUDGED_FIELDS_BIT, /* words of any kind */
  NVMI_JUDGED_BY_RECORD_BIT,
  NVMI_JUDGED_FLEXIBLE_BIT,
  NVMI_JUDGED_VOLATILE_BIT, /* members whose stores nobody notes */
  NVMI_JUDGED_KNOWN_BIT
};
#define NVMI_JUDGED_WORDS ((UINT64_C(1) << NVMI_JUDGED_FIELDS_BIT) - 1)
#define NVMI_JUDGED_KNOWN (UINT64_C(1) << NVMI_JUDGED_KNOWN_BIT)
/* Addresses of a process lie below. */
#define NVMI_ADDRESS_BITS 47
uint64_t nvmi_judged_learn(struct nvm_pool *pool, unsigned index);
static inline uint64_t nvmi_judged_words(struct nvm_pool *pool, unsigned index) {
  uint64_t words = atomic_load_explicit(&pool->judged[index], memory_order_relaxed);
  return NVMI_LIKELY(words != 0) ? words : nvmi_judged_learn(pool, index);
}
/* Whether the type is known to have none. May be asked later again; never wrong with true. */
static inline bool nvmi_is_plain(const struct nvm_pool *pool, unsigned index) {
  uint64_t words = atomic_load_explicit(&pool->judged[index], memory_order_relaxed);
  return (words & (NVMI_JUDGED_KNOWN | NVMI_JUDGED_WORDS)) == NVMI_JUDGED_KNOWN;
}
/* From which byte on a new block, of which the program asked for `size` bytes, has to be zero. */
static inline size_t nvmi_zero_from(struct nvm_pool *pool, unsigned index, size_t size) {
  uint64_t words = nvmi_judged_words(pool, index);
  return words & NVMI_JUDGED_WORDS ? 0 : words >> NVMI_JUDGED_FIELDS_BIT & 1 ? size : SIZE_MAX;
}
static inline bool nvmi_is_judged(uint32_t kind) {
  return kind == NVM_FIELD_POINTER || kind == NVM_FIELD_WEAK_POINTER ||
         kind == NVM_FIELD_FUNCTION || kind == NVM_FIELD_STATIC_POINTER;
}

/* The field that starts at `offset` of the records from `record` of the view on. */
struct nvmi_view;
const struct nvm_field *nvmi_field_at(const struct nvm_pool *pool, const struct nvm_type *type,
                                      const struct nvmi_view *view, uint64_t record,
                                      uint64_t offset);
/* Some judged field of the type is decided by another member, or hidden, or its flexible
 * array may hide some. Hidden: in a record at `record`, or in one of an array of them (judge.h). */
bool nvmi_judged_by_record(const struct nvm_type *type);
/* Whether it has members whose stores nobody notes (NVM_VOLATILE). */
bool nvmi_has_volatile(const struct nvm_type *type);
bool nvmi_is_hidden(const struct nvm_type *type, const struct nvm_field *field, uint64_t record);

/* The word at `inside` of a block of that type; null: plain bytes. */
const struct nvm_field *nvmi_pointer_field(const struct nvm_pool *pool, const struct nvm_type *type,
                                           const char *block, uint64_t inside);
