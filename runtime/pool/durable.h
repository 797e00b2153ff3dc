/* durable.h: NVMOVE_DURABLE: whether a commit on an ordinary disk waits until it is durable, and what
 * brings it there where it does not (platform/delayed.h).
 */
#pragma once

#include "core/pool.h"

/* Sets `sync_ms` and header.log_format, when domain and method are chosen. -1: recorded, they do not go
 * together. */
int nvmi_delay_choose(struct nvm_pool *pool);
/* The pool is open, and nobody uses it yet: from now on its commits do not wait, if that was chosen. 0, or
 * -1: recorded. */
int nvmi_delay_start(struct nvm_pool *pool);
/* The same in a child of fork that goes on with the pool. */
void nvmi_delay_go_on(struct nvm_pool *pool);
