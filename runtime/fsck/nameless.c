/* nameless.c: see nameless.h. */
#include "fsck/nameless.h"
#include "log/log.h"

#include "gc/counts.h"
#include "heap/heap_types.h"
#include "heap/run_owner.h"
#include "log/log_read.h"

static bool is_segment(const struct nvm_pool *pool, uint64_t at) {
  const struct nvm_segment *segment = (const void *)(pool->home + at);
  return nvmi_segment_valid(pool, at, segment->slot, segment->bank, segment->position);
}

/* Tables of counts are numbers and nothing else: who names them has to be sound. */
static bool is_named(const struct nvm_pool *pool, const struct nvmi_run_owner *owner, uint64_t at,
                     uint64_t size) {
  return owner->parts_in(pool, at, size, false) || (owner->begins && owner->begins(pool, at)) ||
         (owner->kind == NVM_CHUNK_COUNTS && nvmi_counts_fault(pool));
}

const char *nvmi_nameless_fault(struct nvm_pool *pool, uint32_t chunk) {
  uint64_t word = *nvmi_chunk_word(pool, chunk), at = nvmi_chunk_offset(pool, chunk);
  const struct nvmi_run_owner *owner = nvmi_owner_of_run(pool, word);
  if (pool->header.state != NVM_STATE_CLEAN || pool->header.unclean_shutdowns)
    return NULL;
  bool is_right = owner ? is_named(pool, owner, at, word >> 32 << NVM_CHUNK_SHIFT)
                        : (word & 0xff) != NVM_CHUNK_LOG || is_segment(pool, at);
  return is_right ? NULL : "a run of tables or of a log, and nothing names it";
}
