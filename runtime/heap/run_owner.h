/* run_owner.h: the runs of chunks that hold no blocks, by kind; log segments apart.
 *
 * A room that keeps tables in such runs describes them by one struct nvmi_run_owner, which the list
 * in pool/owners.c names. The heap asks the owner which runs are in use: a run that a crash left
 * without use is freed, and a table that lies in no run of its kind is damage.
 */
#pragma once

#include "core/pool.h"

struct nvmi_run_owner {
  enum nvm_chunk_kind kind;
  /* Chunks of the run that starts there; 0: that is not known. */
  uint64_t (*chunks_at)(const struct nvm_pool *pool, uint64_t offset);
  /* How many parts of its tables lie in these bytes of the file; `whole`: to their end. */
  unsigned (*parts_in)(const struct nvm_pool *pool, uint64_t offset, uint64_t size, bool whole);
  /* How many there are; null: that is not known. */
  unsigned (*parts)(const struct nvm_pool *pool);
  /* Whether a run there begins as one of its own does, whatever names it; null: nothing tells. */
  bool (*begins)(const struct nvm_pool *pool, uint64_t offset);
  const char *lack; /* what is wrong where its runs have fewer; null with `parts` */
};

/* Of the kind that a run's word says; null: none. */
static inline const struct nvmi_run_owner *nvmi_owner_of_run(const struct nvm_pool *pool,
                                                             uint64_t word) {
  const struct nvmi_run_owner *const *owner = pool->run_owners;
  while (*owner && (*owner)->kind != (word & 0xff))
    owner++;
  return *owner;
}
