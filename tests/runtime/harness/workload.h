/* workload.h: a sequence of transactions whose result after the first t of them is known for every
 * t. */
#pragma once

#include "nvmove/nvmove.h"

#include <stdint.h>

enum { WORKLOAD_SLOTS = 24, WORKLOAD_WORDS = 200 };

/* Shared with the process that is going to die. */
struct progress {
  volatile uint64_t acknowledged; /* transactions whose commit returned */
  uint64_t interrupted;           /* more that may have committed: each ended a process */
};
struct progress *progress_new(void);

/* Called with the pool that workload_run opened; null: nothing is. */
extern void (*workload_opened)(NVM_POOL *pool);

/* Called behind each commit, of the t-th transaction; null: nothing is. */
extern void (*workload_committed)(NVM_POOL *pool, uint64_t t);

/* Opens or creates the pool at `path`, goes on after the last committed transaction to the
 * `end`-th. Every second is preceded by one that is aborted. Closes the pool. */
void workload_run(const char *path, struct progress *progress, uint64_t end);

/* Opens the pool: it holds the first t transactions, t = acknowledged or one more, and no block
 * besides theirs. Closes and checks it. Gives t. */
uint64_t workload_verify(const char *path, const struct progress *progress);
