/* collect.h: what all that frees blocks of a whole pool begins and ends with. */
#pragma once

#include "types/words.h"

/* 0 when no transaction is open in the pool, what this thread stored outside of such
 * being committed now; -1: recorded. */
int nvmi_check_quiet(struct nvm_pool *pool);
/* Frees blocks by ordinary transactions, a few hundred each. -1: recorded. */
int nvmi_free_blocks(struct nvm_pool *pool, const struct nvmi_block *blocks, size_t count);
