/* statics_runs.c: the runs of the table of static data, and the links between them.
 *
 * The first link lies at NVM_STATICS_OFFSET, each other in the run before. Only a run whose link is
 * durable gets entries.
 */
#include "symbols/statics.h"

#include "base/checksum.h"
#include "heap/heap_types.h"
#include "heap/run_owner.h"

uint64_t nvmi_statics_run_check(const struct nvm_pool *pool, const struct nvm_statics_run *run) {
  return nvmi_check(&run->self, sizeof run->self, pool->id_seed ^ NVM_CHUNK_STATICS);
}

uint64_t *nvmi_statics_first_link(const struct nvm_pool *pool) {
  return (uint64_t *)(pool->home + NVM_STATICS_OFFSET);
}

const struct nvm_statics_run *nvmi_statics_run_at(const struct nvm_pool *pool, uint64_t at) {
  const struct nvm_header *h = &pool->header;
  if (at < h->heap_offset || (at - h->heap_offset) % NVM_CHUNK_SIZE ||
      at - h->heap_offset >= h->heap_size)
    return NULL;
  const struct nvm_statics_run *run = (const void *)(pool->home + at);
  return run->self == at && run->check == nvmi_statics_run_check(pool, run) ? run : NULL;
}

/* 1: the run that starts there is one of the table's. */
static unsigned is_listed(const struct nvm_pool *pool, uint64_t offset, uint64_t size, bool whole) {
  (void)size, (void)whole;
  const struct nvm_statics_run *run;
  uint64_t left = pool->header.heap_size >> NVM_CHUNK_SHIFT; /* against a cycle */
  for (uint64_t at = *nvmi_statics_first_link(pool); at && left--; at = run->next) {
    if (at == offset)
      return 1;
    if (!(run = nvmi_statics_run_at(pool, at)))
      return 0;
  }
  return 0;
}

/* Up to one that is damaged; 0: the list is a cycle. */
static unsigned listed_runs(const struct nvm_pool *pool) {
  const struct nvm_statics_run *run = NULL;
  uint64_t left = pool->header.heap_size >> NVM_CHUNK_SHIFT;
  unsigned count = 0;
  for (uint64_t at = *nvmi_statics_first_link(pool);
       at && left && (run = nvmi_statics_run_at(pool, at)); at = run->next)
    count++, left--;
  return left ? count : 0;
}

static uint64_t chunks_of_run(const struct nvm_pool *pool, uint64_t offset) {
  (void)pool, (void)offset;
  return 1;
}

static bool begins(const struct nvm_pool *pool, uint64_t offset) {
  return nvmi_statics_run_at(pool, offset);
}

/* An entry is stored only when the link to its run is durable (add_run): a run that has one, and that
 * no link leads to, has lost it. */
static bool is_lost(const struct nvm_pool *pool, uint64_t at) {
  const struct nvm_statics_run *run = nvmi_statics_run_at(pool, at);
  return run &&
         nvmi_statics_is_whole(pool, (const void *)(run + 1), NVM_CHUNK_SIZE - sizeof *run) &&
         !is_listed(pool, at, NVM_CHUNK_SIZE, true);
}

int nvmi_statics_miss_none(struct nvm_pool *pool) {
  /* Of words that nobody has looked at so far: 64 bits, so that no length leads back. */
  uint64_t chunks = pool->header.heap_size >> NVM_CHUNK_SHIFT;
  for (uint64_t chunk = 0, count; chunk < chunks; chunk += count ? count : 1) {
    uint64_t word = *nvmi_chunk_word(pool, (uint32_t)chunk);
    count = word >> 32;
    if ((word & 0xff) == NVM_CHUNK_STATICS &&
        is_lost(pool, nvmi_chunk_offset(pool, (uint32_t)chunk)))
      return nvmi_fail(NVM_ECORRUPT, pool->path,
                       "chunk %u: a part of the table of static data, and no link leads to "
                       "it; " NVMI_REPAIR_HINT,
                       (unsigned)chunk);
  }
  return 0;
}

const struct nvmi_run_owner nvmi_statics_owner = {
    .kind = NVM_CHUNK_STATICS,
    .chunks_at = chunks_of_run,
    .parts_in = is_listed,
    .parts = listed_runs,
    .begins = begins,
    .lack = "a part of the table of static data is no run of kind STATICS"};
