/* pool.h: what the rest of the runtime asks of pool.c. */
#pragma once

#include "core/pool.h"

/* Opens and locks the file at `path`, reads its header; for open and for check. Null: recorded. */
struct nvm_pool *nvmi_pool_attach(const char *path, bool writable);
/* The same without a look at the header. */
struct nvm_pool *nvmi_pool_take(const char *path, bool writable);
void nvmi_pool_detach(struct nvm_pool *pool);

/* Gives up all that was made of an attached pool but the file. */
void nvmi_pool_undo_start(struct nvm_pool *pool);
