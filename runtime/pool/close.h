/* close.h: the end of a pool's use. */
#pragma once

#include "core/pool.h"

/* At exit: closes the file's books, but keeps the mapping, which other threads may still
 * look at. Where another thread may be writing nothing is done: the next opening recovers. */
void nvmi_pool_leave(struct nvm_pool *pool);
