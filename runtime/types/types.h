/* types.h: the types that a pool knows, by the number that heap words carry; and what is true of
 * their fields. */
#pragma once

#include "core/log_state.h"
#include "heap/run_owner.h"

/* Reads the table of an opened pool. A failure is recorded: it is damaged. */
int nvmi_types_load(struct nvm_pool *pool);
/* A failure is recorded: the program has another layout for a type that the pool has blocks of. */
int nvmi_types_match(struct nvm_pool *pool);
void nvmi_types_free(struct nvm_pool *pool);
/* The index of a type, entered durably when it is new. -1: recorded. */
int nvmi_type_index(struct nvm_pool *pool, uint64_t id);
/* The same of a layout that somebody else describes; it is copied. */
int nvmi_type_describe(struct nvm_pool *pool, const struct nvm_type *type);
/* The layout of a type, as the program or the pool itself describes it; null: nobody does. By the
 * pool's index, and by id. */
const struct nvm_type *nvmi_type_layout(const struct nvm_pool *pool, uint64_t index);
const struct nvm_type *nvmi_type_by_id(const struct nvm_pool *pool, uint64_t id);
/* The flexible array at the end of a type's record; null: it has none. */
static inline const struct nvm_field *nvmi_type_tail(const struct nvm_type *type) {
  for (uint32_t i = 0; i < type->field_count; i++)
    if (type->fields[i].kind == NVM_FIELD_FLEXIBLE_ARRAY)
      return &type->fields[i];
  return NULL;
}
/* Whether the byte at `offset` of a block of this type belongs to a field that is never noted. */
bool nvmi_type_volatile_at(const struct nvm_pool *pool, const struct nvm_type *type,
                           uint64_t offset);
/* pointers.c: the word at `inside` of a block of that type; null: plain bytes. */
const struct nvm_field *nvmi_pointer_field(const struct nvm_pool *pool, const struct nvm_type *type,
                                           const char *block, uint64_t inside);
/* More types are described than before (described.h). */
void nvmi_types_learn(struct nvm_pool *pool);
/* Whether pointers are judged at commits: some type is described, and NVMOVE_POINTERS is not 0. And
 * whether of some type another member decides what a field is. */
void nvmi_pointers_choose(struct nvm_pool *pool);
/* The name of the type with this index. */
const char *nvmi_type_name(const struct nvm_pool *pool, uint64_t index);
/* Of the runs with the records of types. */
extern const struct nvmi_run_owner nvmi_types_owner;
/* The entries behind the last valid one that are neither free nor torn: how many are damaged. */
unsigned nvmi_types_damaged(const struct nvm_pool *pool);
/* Whether the heap's tables name a block of the type, which need not be in the table of types. */
bool nvmi_type_is_used(const struct nvm_pool *pool, unsigned index);
/* The record of an entry, if its checksum holds; else null. */
const char *nvmi_type_record_of(const struct nvm_pool *pool, const struct nvm_type_entry *entry);
uint64_t nvmi_type_entry_check(const struct nvm_pool *pool, const struct nvm_type_entry *entry,
                               const void *record);

/* type_match.c: in one line, what differs between the layouts that the pool and the program have of
 * a type. */
void nvmi_type_difference(const struct nvm_type *pools, const struct nvm_type *programs, char *line,
                          size_t size);

/* judged.c: where a record of a type may have a pointer that is judged at a commit. A bit for each
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
/* judged.c: the field that starts at `offset` of the records from `record` of the view on. */
struct nvmi_view;
const struct nvm_field *nvmi_field_at(const struct nvm_pool *pool, const struct nvm_type *type,
                                      const struct nvmi_view *view, uint64_t record,
                                      uint64_t offset);
/* judged.c: some judged field of the type is decided by another member, or hidden, or its flexible
 * array may hide some. Hidden: in a record at `record`, or in one of an array of them (judge.h). */
bool nvmi_judged_by_record(const struct nvm_type *type);
/* Whether it has members whose stores nobody notes (NVM_VOLATILE). */
bool nvmi_has_volatile(const struct nvm_type *type);
bool nvmi_is_hidden(const struct nvm_type *type, const struct nvm_field *field, uint64_t record);

/* Where a log's table of known types has an id, whose lowest bit is always set. */
static inline unsigned nvmi_type_slot(uint64_t type) { return type / 2 % NVMI_KNOWN_TYPES; }
