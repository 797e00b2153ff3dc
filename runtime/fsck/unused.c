/* unused.c: see unused.h. */
#include "fsck/unused.h"

#include "base/holes.h"
#include "format/address.h"
#include "heap/heap_types.h"

#include <string.h>

bool nvmi_unused_is_dirty(struct nvmi_unused *unused, uint32_t chunk) {
  const struct nvm_pool *pool = unused->pool;
  uint64_t at = nvmi_chunk_offset(pool, chunk);
  const char *bytes = pool->home + at;
  if (unused->end <= at) {
    unused->data = at;
    if (!nvmi_next_data(pool->fd, &unused->data, &unused->end, INT64_MAX))
      unused->data = unused->end = INT64_MAX;
  }
  return unused->data < at + NVM_CHUNK_SIZE &&
         (*bytes || memcmp(bytes, bytes + 1, NVM_CHUNK_SIZE - 1) != 0);
}
