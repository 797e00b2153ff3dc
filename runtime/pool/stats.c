/* stats.c: counters and facts of an open pool.
 *
 * Each log counts for itself with plain additions, so counting is never switched off; here they are
 * added up. A running thread's numbers may be a little behind.
 */
#include "pool/stats.h"
#include "heap/heap_chunks.h"
#include "heap/heap_spans.h"
#include "platform/domain.h"

#include "base/settings.h"
#include "core/map.h"
#include "gc/counts.h"
#include "heap/heap_types.h"
#include "symbols/statics.h"

#include "nvmove/inspect.h"

#include <stdlib.h>
#include <string.h>

int nvm_pool_stats(NVM_POOL *pool, struct nvm_stats *stats) {
  if (!pool || !stats)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no pool or no place for its counters was given");
  *stats = (struct nvm_stats){0};
  for (unsigned i = 0; i < pool->log_count; i++) {
    const struct nvm_stats *one = &pool->logs[i]->stats;
    stats->commits += one->commits;
    stats->implicit_commits += one->implicit_commits;
    stats->aborts += one->aborts;
    stats->joined_commits += one->joined_commits;
    stats->notes += one->notes;
    stats->log_entries += one->log_entries;
    stats->log_bytes += one->log_bytes;
    stats->flushed_lines += one->flushed_lines;
    stats->fences += one->fences;
    stats->allocations += one->allocations;
    stats->frees += one->frees;
  }
  return 0;
}

int nvm_pool_info(NVM_POOL *pool, struct nvm_info *info) {
  if (!pool || !info)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no pool or no place for its facts was given");
  const struct nvm_header *h = &pool->header;
  *info = (struct nvm_info){.path = pool->path,
                            .method = pool->method->name,
                            .domain = (enum nvm_domain)h->domain,
                            .size = nvmi_file_size(h),
                            .size_max = h->range,
                            .generation = h->generation,
                            .unclean_opens = h->unclean_shutdowns,
                            .recovered_undone = pool->recovered_undone,
                            .recovered_redone = pool->recovered_redone,
                            .sync_ms = pool->sync_ms};
  return 0;
}

static void add_run(void *context, struct nvm_pool *pool, uint32_t chunk, uint32_t count) {
  struct nvm_usage *usage = context;
  uint64_t word = *nvmi_chunk_word(pool, chunk);
  if ((word & 0xff) == NVM_CHUNK_LARGE) {
    usage->blocks++;
    usage->bytes += (uint64_t)count << NVM_CHUNK_SHIFT;
  }
  if ((word & 0xff) != NVM_CHUNK_SMALL)
    return;
  struct nvmi_span shape;
  nvmi_span_shape(&shape, word >> 8 & 0xff);
  const uint16_t *table = (const void *)(pool->home + nvmi_chunk_offset(pool, chunk));
  for (uint32_t i = 0; i < shape.blocks; i++) {
    bool is_allocated = __atomic_load_n(&table[i], __ATOMIC_RELAXED) != 0;
    usage->blocks += is_allocated;
    usage->bytes += is_allocated * shape.block_size;
  }
}

int nvm_pool_usage(NVM_POOL *pool, struct nvm_usage *usage) {
  if (!pool || !usage)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no pool or no place for its usage was given");
  if (pool->forked)
    return nvmi_fail(NVM_ECHILD, pool->path,
                     "a forked child cannot read the heap's tables; ask in the parent");
  if (nvmi_heap_ready(pool))
    return -1;
  *usage = (struct nvm_usage){.heap_bytes = pool->header.heap_size,
                              .touched_bytes = (uint64_t)pool->heap->used_end << NVM_CHUNK_SHIFT};
  nvmi_heap_each_run(pool, add_run, usage);
  return 0;
}

static uint64_t count_logs(const struct nvm_pool *pool) {
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  uint64_t count = 0;
  while (count < NVM_SLOTS_MAX && slots[count].bank[0])
    count++;
  return count;
}

int nvm_pool_account(NVM_POOL *pool, struct nvm_account *account) {
  if (!pool || !account)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no pool or no place for its account was given");
  if (pool->forked)
    return nvmi_fail(NVM_ECHILD, pool->path,
                     "a forked child cannot read the file's tables; ask in the parent");
  const struct nvm_header *h = &pool->header;
  *account = (struct nvm_account){.base = h->base,
                                  .clean_shutdowns = h->clean_shutdowns,
                                  .unclean_shutdowns = h->unclean_shutdowns,
                                  .heap_bytes = h->heap_size,
                                  .types = pool->type_count ? pool->type_count - 1 : 0,
                                  .statics = nvmi_statics_count(pool),
                                  .logs = count_logs(pool),
                                  .unfinished_moves = h->moves,
                                  .counts_references = h->counts,
                                  .counts_stale = pool->counts && nvmi_counts_stale(pool->counts),
                                  .counts_recovered = pool->counts ? pool->counts->recovered : 0};
  memcpy(account->id, h->id, sizeof account->id);
  memcpy(account->build_id, h->build_id, sizeof account->build_id);
  return 0;
}

void nvmi_stats_print(struct nvm_pool *pool) {
  if (!nvmi_setting_is("NVMOVE_STATS", "1"))
    return;
  struct nvm_stats s;
  nvm_pool_stats(pool, &s);
  nvmi_tell(
      "nvmove: %s: method %s, domain %s (%s), generation %llu\n"
      "nvmove:   %llu commits (%llu implicit, %llu joined), %llu aborts, %llu notes, "
      "%llu log entries of %llu bytes, %llu flushed lines, %llu fences, %llu allocations, %llu "
      "frees\n",
      pool->path, pool->method->name, nvmi_domain_name(pool->header.domain), pool->persist->name,
      (unsigned long long)pool->header.generation, (unsigned long long)s.commits,
      (unsigned long long)s.implicit_commits, (unsigned long long)s.joined_commits,
      (unsigned long long)s.aborts, (unsigned long long)s.notes, (unsigned long long)s.log_entries,
      (unsigned long long)s.log_bytes, (unsigned long long)s.flushed_lines,
      (unsigned long long)s.fences, (unsigned long long)s.allocations, (unsigned long long)s.frees);
}
