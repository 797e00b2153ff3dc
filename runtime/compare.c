/* compare.c: NVMOVE_DEBUG=compare: after a commit the program's view must equal the file.
 *
 * A difference is a store that nobody noted: with shadow it would be lost at the next opening. The
 * whole heap is compared, so this is for tests; while another thread has something uncommitted it
 * waits for the next commit. Fields marked NVM_VOLATILE may differ, where the block's type is
 * known.
 */
#include "heap_types.h"

#include "trace.h"
#include "types.h"

#include <string.h>

/* Under the lock no thread goes away. Racing with those that just begin is no harm: what they store
 * is noted, and seen by the next comparison. */
__attribute__((no_sanitize("thread"))) static bool others_are_open(struct nvm_pool *pool) {
  const struct nvmi_thread *self = nvmi_thread_self();
  bool some = pool->parcels;
  nvmi_lock(&pool->lock);
  for (unsigned i = 0; i < pool->log_count && !some; i++) {
    const struct nvmi_thread *owner = pool->logs[i]->owner;
    some = owner && owner != self && owner->touched >> pool->index & 1;
  }
  nvmi_unlock(&pool->lock);
  return some;
}

static void compare(struct nvm_pool *pool, uint64_t offset, uint64_t size, uint64_t type) {
  const char *work = pool->work + offset, *home = pool->home + offset;
  if (memcmp(work, home, size) == 0)
    return;
  const struct nvm_type *layout = nvmi_type_layout(pool, type);
  uint64_t at = 0;
  while (at < size && (work[at] == home[at] || (layout && nvmi_type_volatile_at(pool, layout, at))))
    at++;
  if (at == size)
    return;
  nvmi_die(
      pool->path,
      "a store that nobody noted: byte %llu of the block of %llu bytes at %p (type %s) is %#x, the "
      "file has %#x",
      (unsigned long long)at, (unsigned long long)size, (const void *)work,
      nvmi_type_name(pool, type), (unsigned char)work[at], (unsigned char)home[at]);
}

static void compare_run(void *unused, struct nvm_pool *pool, uint32_t chunk, uint32_t count) {
  (void)unused;
  uint64_t word = *nvmi_chunk_word(pool, chunk), offset = nvmi_chunk_offset(pool, chunk);
  if ((word & 0xff) == NVM_CHUNK_LARGE)
    compare(pool, offset, (uint64_t)count << NVM_CHUNK_SHIFT, word >> 16 & 0xffff);
  if ((word & 0xff) != NVM_CHUNK_SMALL)
    return;
  struct nvmi_span shape;
  nvmi_span_shape(&shape, word >> 8 & 0xff);
  const uint16_t *table = (const void *)(pool->home + offset);
  for (uint32_t i = 0; i < shape.blocks; i++)
    if (table[i])
      compare(pool, offset + shape.first + (uint64_t)i * shape.block_size, shape.block_size,
              table[i] - 1u);
}

bool nvmi_view_is_compared(const struct nvm_pool *pool) {
  return pool->compare || pool->written || nvmi_tracing;
}

void nvmi_compare(struct nvm_pool *pool) {
  if (others_are_open(pool))
    return;
  compare(pool, NVM_ROOT_OFFSET, sizeof(void *), 0);
  nvmi_heap_each_run(pool, compare_run, NULL);
}
