/* crew.h: several threads that go over a whole pool. */
#pragma once

#include "core/pool.h"

/* Runs over all runs of chunks of a pool, several threads at a time: `visit` is called with the
 * context of its thread, of `contexts`, each `context_size` bytes. Gives the number of threads,
 * whose contexts were used; at most `threads`, in the calling thread alone when none can be
 * started. Afterwards each has fenced. -1: the heap's table is damaged, or memory ran out:
 * recorded. */
typedef void nvmi_visit_chunk(void *context, struct nvm_pool *pool, uint32_t chunk);
int nvmi_each_run(struct nvm_pool *pool, unsigned threads, nvmi_visit_chunk *visit, void *contexts,
                  size_t context_size);

/* How many threads the whole of this pool is worth: NVMOVE_THREADS, else the processors, and one
 * for each 16 MiB. */
enum { NVMI_CREW_MAX = 16 };
unsigned nvmi_crew_size(const struct nvm_pool *pool);
