/* close_logs.h: the logs of a pool that is closed. */
#pragma once

#include "core/pool.h"

/* Commits what the calling thread has stored outside transactions, and waits until no other thread has anything
 * open in the pool. NVM_EOPENTX: one keeps something open. Or as nvm_tx_commit; then it is undone. */
int nvmi_logs_await_rest(struct nvm_pool *pool);
/* The same; then takes the logs of all other threads away. Where it fails nobody's is taken. */
int nvmi_logs_take(struct nvm_pool *pool);
void nvmi_log_free_all(struct nvm_pool *pool);
/* The header says that no log matters: banks become one segment again, the rest is freed by the
 * next build. */
void nvmi_log_shrink(struct nvm_pool *pool);
