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
/* close.c. At exit: closes the file's books, but keeps the mapping, which other threads may still
 * look at. Where another thread may be writing nothing is done: the next opening recovers. */
void nvmi_pool_leave(struct nvm_pool *pool);

/* close_logs.c. Commits what all threads have outside transactions; NVM_EOPENTX when one has a
 * transaction open, or a thread that ends waits for one. */
int nvmi_log_close_all(struct nvm_pool *pool);
void nvmi_log_free_all(struct nvm_pool *pool);
/* The header says that no log matters: banks become one segment again, the rest is freed by the
 * next build. */
void nvmi_log_shrink(struct nvm_pool *pool);
