/* roots_placed.h: roots that are placed in the pool. */
#pragma once

#include "core/root_hooks.h"

/* The load is over: moves the placed roots to a pool without roots, in the open transaction. -1:
 * recorded. */
int nvmi_roots_place(struct nvm_pool *pool);

/* Of a word that is noted: an address of a placed root's memory in the program becomes that of its
 * block in the pool; `tag`: bits that are no address. False: it is none. */
bool nvmi_root_correct(struct nvm_pool *pool, uint64_t offset, uint64_t tag);
/* From now on the program finds the placed root at `value`, with its own volatile fields. */
void nvmi_root_move(struct nvm_pool *pool, const struct nvm_root *root, char *value);
