/* compare.c: NVMOVE_DEBUG=compare: after a commit the program's view must equal the file.
 *
 * A difference is a store that nobody noted: with shadow it would be lost at the next opening. The
 * whole heap is compared, so this is for tests; while another thread has something uncommitted it
 * waits for the next commit. Fields marked NVM_VOLATILE may differ, where the block's type is
 * known.
 */
#include "types/compare.h"
#include "heap/heap_spans.h"

#include "heap/heap_types.h"

#include "core/map.h"
#include "core/tracing.h"
#include "types/types.h"

#include <sched.h>
#include <string.h>

enum { LOOKS = 100 }; /* at a difference, before it counts */

/* Whether another thread has something uncommitted, or a signal handler of this one, which may come at any
 * time; under the lock no thread goes away. One that commits is busy before it gives up what it
 * touched, and until all of it is in the file. */
__attribute__((no_sanitize("thread"))) static bool some_are_open(struct nvm_pool *pool) {
  const struct nvmi_thread *self = nvmi_thread_self();
  bool some = pool->parcels || *(const volatile uint64_t *)&self->touched >> pool->index & 1;
  nvmi_lock(&pool->lock);
  for (unsigned i = 0; i < pool->log_count && !some; i++) {
    const struct nvmi_thread *owner = pool->logs[i]->owner;
    if (!owner || owner == self)
      continue;
    some = *(const volatile uint64_t *)&owner->touched >> pool->index & 1;
    some = some || owner->busy;
  }
  nvmi_unlock(&pool->lock);
  return some;
}

/* The first difference that a look finds. */
struct finding {
  uint64_t block, size, at, type; /* in the file, bytes, bytes inside; size 0: there is none */
};

__attribute__((no_sanitize("thread"))) static void compare(struct finding *finding,
                                                           struct nvm_pool *pool, uint64_t offset,
                                                           uint64_t size, uint64_t type) {
  const volatile char *work = pool->work + offset, *home = pool->home + offset;
  if (finding->size || memcmp((const char *)work, (const char *)home, size) == 0)
    return;
  const struct nvm_type *layout = nvmi_type_layout(pool, type);
  uint64_t at = 0;
  while (at < size && (work[at] == home[at] || (layout && nvmi_type_volatile_at(pool, layout, at))))
    at++;
  if (at < size)
    *finding = (struct finding){offset, size, at, type};
}

static void compare_run(void *finding, struct nvm_pool *pool, uint32_t chunk, uint32_t count) {
  uint64_t word = *nvmi_chunk_word(pool, chunk), offset = nvmi_chunk_offset(pool, chunk);
  if ((word & 0xff) == NVM_CHUNK_LARGE)
    compare(finding, pool, offset, (uint64_t)count << NVM_CHUNK_SHIFT, word >> 16 & 0xffff);
  if ((word & 0xff) != NVM_CHUNK_SMALL)
    return;
  struct nvmi_span shape;
  nvmi_span_shape(&shape, word >> 8 & 0xff);
  const uint16_t *table = (const void *)(pool->home + offset);
  for (uint32_t i = 0; i < shape.blocks; i++)
    if (table[i])
      compare(finding, pool, offset + shape.first + (uint64_t)i * shape.block_size,
              shape.block_size, table[i] - 1u);
}

/* Other threads go on meanwhile. What one of them stored is in the file when it rests; that one
 * begins, stores and ends between each two looks is not to be expected. */
void nvmi_compare(struct nvm_pool *pool) {
  struct finding finding;
  for (unsigned look = 0; look < LOOKS; look++) {
    if (look)
      sched_yield();
    finding = (struct finding){0};
    if (some_are_open(pool))
      return;
    compare(&finding, pool, NVM_ROOT_OFFSET, sizeof(struct nvm_root_words), 0);
    nvmi_heap_each_run(pool, compare_run, &finding);
    if (!finding.size || some_are_open(pool))
      return;
  }
  const char *work = pool->work + finding.block, *home = pool->home + finding.block;
  nvmi_die(
      pool->path,
      "a store that nobody noted: byte %llu of the block of %llu bytes at %p (type %s) is %#x, the "
      "file has %#x",
      (unsigned long long)finding.at, (unsigned long long)finding.size, (const void *)work,
      nvmi_type_name(pool, finding.type), (unsigned char)work[finding.at],
      (unsigned char)home[finding.at]);
}

_Atomic bool nvmi_compares;

/* None of them is closed meanwhile. */
void nvmi_compare_all(void) {
  struct nvmi_mutex *leaving = &nvmi_locks[NVMI_LOCK_LEAVING];
  if (nvmi_has_lock(leaving))
    return; /* in a handler that interrupts this */
  nvmi_lock(leaving);
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++) {
    struct nvm_pool *pool = nvmi_pool_in_use(i);
    if (pool && pool->compare && pool->heap && pool->method->private_work && !pool->forked)
      nvmi_compare(pool);
  }
  nvmi_unlock(leaving);
}
