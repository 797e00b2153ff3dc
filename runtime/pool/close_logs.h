/* close_logs.h: the logs of a pool that is closed. */
#pragma once

#include "core/pool.h"

/* Commits what all threads have outside transactions; NVM_EOPENTX when one has a
 * transaction open, or a thread that ends waits for one. */
int nvmi_log_close_all(struct nvm_pool *pool);
void nvmi_log_free_all(struct nvm_pool *pool);
/* The header says that no log matters: banks become one segment again, the rest is freed by the
 * next build. */
void nvmi_log_shrink(struct nvm_pool *pool);
