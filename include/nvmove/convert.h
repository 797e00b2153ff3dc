/* convert.h: making a pool out of another one, by a program that knows neither's types: what `nvmove
 * pool convert` is made of.
 *
 * Blocks are allocated and written as always. What a program brings by being compiled (layouts,
 * names of its static data) is said here instead. Pools are quiet meanwhile (inspect.h).
 */
#ifndef NVMOVE_CONVERT_H
#define NVMOVE_CONVERT_H

#include "nvmove/abi.h"
#include "nvmove/nvmove.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `visit` for each type that the pool has a layout of, until it gives false. What it is given
 * is valid until the pool is closed. */
int nvm_pool_each_type(NVM_POOL *pool, bool (*visit)(void *context, const struct nvm_type *type),
                       void *context);

/* Enters a layout, as the first allocation of that type would: from then on blocks of `type->id`
 * can be allocated. The type of a flexible array's elements is entered before. Copied. */
int nvm_pool_describe(NVM_POOL *pool, const struct nvm_type *type);

/* Stores bytes in the pool, as compiled code does: part of the open transaction. */
int nvm_pool_store(NVM_POOL *pool, void *to, const void *bytes, size_t size);

/* A word of a block that is more than plain bytes. */
struct nvm_word {
  void *at;                      /* in the bytes given; perhaps not aligned */
  const struct nvm_type *type;   /* of the record that it lies in */
  const struct nvm_field *field; /* which describes it, its condition being true */
};
/* Calls `visit` for each such word among `size` bytes that a block of the type with this id has, or
 * is to have. */
int nvm_pool_each_word(NVM_POOL *pool, uint64_t type, void *bytes, size_t size,
                       bool (*visit)(void *context, const struct nvm_word *word), void *context);

/* Pointers to functions and static data that `from` knows the names of mean the same in `to`, into
 * which they were copied as they are. NVM_ESTATIC: in `from` they are just being bound anew. */
int nvm_pool_convert_statics(NVM_POOL *to, NVM_POOL *from);

#ifdef __cplusplus
}
#endif

#endif
