/* types.h: the types that a pool knows, by the number that heap words carry. */
#pragma once

#include "internal.h"

/* Reads the table of an opened pool. A failure is recorded. */
int nvmi_types_load(struct nvm_pool *pool);
/* The index of a type, entered durably when it is new; 0 (untyped) when the table is full. */
uint16_t nvmi_type_index(struct nvm_pool *pool, uint64_t id);
/* The name of the type with this index, from the file. */
const char *nvmi_type_name(const struct nvm_pool *pool, uint64_t index);
