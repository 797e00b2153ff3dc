/* types.h: the types that a pool knows, by the number that heap words carry. */
#pragma once

#include "internal.h"

/* Reads the table of an opened pool. A failure is recorded. */
int nvmi_types_load(struct nvm_pool *pool);
/* The index of a type, entered durably when it is new; 0 (untyped) when the table is full. */
uint16_t nvmi_type_index(struct nvm_pool *pool, uint64_t id);
/* The layout that nvmove-cc wrote down for a type; null: none. By the pool's index, and by id. */
const struct nvm_type *nvmi_type_layout(const struct nvm_pool *pool, uint64_t index);
const struct nvm_type *nvmi_type_described(uint64_t id);
/* Whether the byte at `offset` of a block of this type belongs to a field that is never noted. */
bool nvmi_type_volatile_at(const struct nvm_type *type, uint64_t offset);
/* pointers.c: the word at `inside` of a block of that type; null: plain bytes. */
const struct nvm_field *nvmi_pointer_field(const struct nvm_type *type, uint64_t inside);
/* The program describes some type. */
bool nvmi_types_described(void);

/* NVM_OK, or NVM_EUNSAFE with the pointer recorded: a pointer field among the bytes of `lines` that
 * holds the address of something outside the pool. */
enum nvm_error nvmi_check_pointers(struct nvm_pool *pool, const struct nvmi_line *lines,
                                   size_t count);

/* The name of the type with this index, from the file. */
const char *nvmi_type_name(const struct nvm_pool *pool, uint64_t index);
