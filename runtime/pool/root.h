/* root.h: the pool's root, which is there twice (struct nvm_root_words in layout.h).
 *
 * One store of 16 bytes, noted as a whole, changes both; they lie in one line. So after recovery
 * they differ only where something else wrote to the file: a root that damage made null would make
 * the pool seem empty.
 */
#pragma once

#include "core/pool.h"

/* The twin of a root at this file offset; 0: there is none. */
uint64_t nvmi_root_twin(const struct nvm_header *header, uint64_t offset);
/* What the twin says; any number where it is damaged. */
uint64_t nvmi_root_told(const struct nvm_pool *pool);
/* Address and twin say the same. A pool that moves, or is about to, has addresses of several bases.
 */
bool nvmi_root_is_sound(const struct nvm_pool *pool);
/* The same of a pool that is recovered, when it is opened; -1: recorded. */
int nvmi_root_check(const struct nvm_pool *pool);
/* In a pool that is being created: none. The first header is written behind it, and fences. */
void nvmi_root_make(struct nvm_pool *pool);
