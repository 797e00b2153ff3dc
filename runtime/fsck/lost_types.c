/* lost_types.c: see lost_types.h. Words of runs may be damaged: up to the first that is. */
#include "fsck/lost_types.h"

#include "format/type_record.h"
#include "heap/heap_types.h"

/* Of the record that an entry says lies there; 0: none does. */
static uint64_t named_size(const struct nvm_pool *pool, uint64_t at) {
  const struct nvm_type_entry *entries = (const void *)(pool->home + NVM_TYPES_OFFSET);
  for (unsigned index = 1; index < pool->type_count; index++)
    if (entries[index].record == at)
      return entries[index].size;
  return 0;
}

static unsigned nameless_in(const struct nvm_pool *pool, uint64_t at, uint64_t end) {
  unsigned nameless = 0;
  for (uint64_t size; at < end; at += size) {
    uint64_t named = named_size(pool, at);
    size = named ? named : nvmi_type_record_size(pool->home + at, end - at);
    if (!size)
      break;
    nameless += !named;
  }
  return nameless;
}

/* Records that no entry names. */
static unsigned nameless(const struct nvm_pool *pool) {
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  unsigned found = 0;
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    count = word ? (uint32_t)(word >> 32) : 1;
    if (!count || count > chunks - chunk)
      break;
    if ((word & 0xff) == NVM_CHUNK_TYPES)
      found +=
          nameless_in(pool, nvmi_chunk_offset(pool, chunk), nvmi_chunk_offset(pool, chunk + count));
  }
  return found;
}

unsigned nvmi_type_lost(const struct nvm_pool *pool, unsigned index) {
  unsigned end = pool->type_count + nameless(pool);
  for (; index < end && index < NVM_TYPES_MAX; index++)
    if (nvmi_type_is_used(pool, index))
      return index;
  return 0;
}
