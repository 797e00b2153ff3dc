/* unused.c: see unused.h. */
#define _GNU_SOURCE
#include "fsck/unused.h"

#include "format/address.h"
#include "heap/heap_types.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Where the file's next bytes are that are no hole. A file that cannot tell has none. */
static uint64_t next_data(const struct nvm_pool *pool, uint64_t at) {
  off_t data = lseek(pool->fd, (off_t)at, SEEK_DATA);
  if (data >= 0)
    return (uint64_t)data;
  return errno == ENXIO ? UINT64_MAX : at;
}

bool nvmi_unused_is_dirty(struct nvmi_unused *unused, uint32_t chunk) {
  const struct nvm_pool *pool = unused->pool;
  uint64_t at = nvmi_chunk_offset(pool, chunk);
  const char *bytes = pool->home + at;
  if (unused->data <= at)
    unused->data = next_data(pool, at);
  return unused->data < at + NVM_CHUNK_SIZE &&
         (*bytes || memcmp(bytes, bytes + 1, NVM_CHUNK_SIZE - 1) != 0);
}
