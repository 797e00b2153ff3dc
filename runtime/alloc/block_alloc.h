/* block_alloc.h: blocks for the program: allocation and frees as part of its transaction. */
#pragma once

#include "nvmove/nvmove.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* nvm_alloc and nvm_free, where block_quick.c does not know the way. */
void *nvmi_alloc_slowly(NVM_POOL *pool, uint64_t type, size_t size);
int nvmi_free_slowly(void *address);

/* Another block of this type and size has the content of one of `old_size` bytes, which is freed.
 * Null: recorded, and nothing has happened. */
void *nvmi_block_move(struct nvm_pool *pool, uint64_t type, void *address, size_t size,
                      size_t old_size);

/* Makes the bytes of a block between two offsets zero, and notes them: those behind what the program
 * asked for. Nothing that is left there is a pointer when another type comes to the block. */
void nvmi_block_clear_end(char *block, size_t from, size_t to);
