/* release.h: what nothing refers to is freed when a pool is closed. */
#pragma once

#include "core/pool.h"

/* Before the pool is closed, and others have nothing open there: frees what nothing refers to. */
void nvmi_release_closing(struct nvm_pool *pool);
/* It is closed: says so, if nothing was left. */
void nvmi_release_closed(struct nvm_pool *pool);
