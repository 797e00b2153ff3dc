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

/* Where a log's table of known types has an id, whose lowest bit is always set. */
static inline unsigned nvmi_type_slot(uint64_t type) { return type / 2 % NVMI_KNOWN_TYPES; }
