/* close.c: a pool is closed, by the program or at exit: all that was committed is brought to its
 * place, then the header calls the logs empty.
 */
#include "pool/close.h"

#include "base/invariant.h"
#include "base/own_locks.h"
#include "core/barrier.h"
#include "core/header.h"
#include "core/map.h"
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "gc/counts.h"
#include "gc/release.h"
#include "heap/heap.h"
#include "heap/heap_types.h"
#include "log/checkpoint.h"
#include "log/log.h"
#include "order/kept_blocks.h"
#include "pool/close_logs.h"
#include "pool/pool.h"
#include "pool/stats.h"
#include "trace/trace.h"
#include "types/compare.h"

static void sync_all(struct nvm_pool *pool) {
  nvmi_checkpoint(pool);
  pool->persist->fence();
}

/* All that was committed is in place afterwards. */
static void checkpoint_all(struct nvm_pool *pool) {
  if (pool->compare && pool->method->private_work)
    nvmi_compare(pool);
  nvmi_stats_print(pool);
  sync_all(pool);
}

/* Only then may the header call the logs empty. */
static void call_clean(struct nvm_pool *pool) {
  /* What another thread's last commit stored in place nobody waited for. */
  if (!pool->several_logs || pool->persist->behind)
    nvmi_fence_all_threads(pool);
  pool->header.state = NVM_STATE_CLEAN;
  pool->header.clean_shutdowns++;
  nvmi_header_write(pool);
  nvmi_log_shrink(pool);
}

/* Nothing of it is open any more, and no other thread has a log of it. */
static int come_to_rest(struct nvm_pool *pool) {
  if (nvmi_logs_await_rest(pool))
    return -1;
  nvmi_release_closing(pool);
  return nvmi_logs_take(pool);
}

int nvm_pool_close(NVM_POOL *pool) {
  if (!pool)
    return nvmi_fail_no_pool();
  if (nvmi_root_hooks && nvmi_root_hooks->owns(pool))
    return nvmi_fail(
        NVM_EARGUMENT, pool->path,
        "it is the pool of a ported program, which libnvmove closes at exit; do not close it");
  if (!nvmi_pool_begins_closing(pool))
    return nvmi_fail(NVM_EARGUMENT, NULL, "%p is no open pool; was it closed already?", pool);
  if (!pool->forked) {
    if (come_to_rest(pool)) {
      pool->closing = false;
      return -1;
    }
    if (pool->persist->record)
      sync_all(pool); /* exit may pass the pool over from here on, and end the process */
    nvmi_lock(&nvmi_locks[NVMI_LOCK_LEAVING]); /* exit is done with it, or passes it over */
    pool->in_use = false;
    nvmi_unlock(&nvmi_locks[NVMI_LOCK_LEAVING]);
    uint64_t kept = nvmi_blocks_closing(pool);
    checkpoint_all(pool);
    NVMI_HOLDS(nvmi_heap_fault(pool, kept));
    (void)kept;
    call_clean(pool);
    nvmi_release_closed(pool);
  }
  nvmi_trace_close(pool);
  nvmi_log_free_all(pool);
  nvmi_pool_undo_start(pool);
  nvmi_pool_detach(pool);
  return 0;
}

/* For the holder of the pool's lock, under which threads take their logs. */
static bool has_writer(const struct nvm_pool *pool, const struct nvmi_thread *but) {
  for (unsigned i = 0; i < pool->log_count; i++)
    if (pool->logs[i]->owner && pool->logs[i]->owner != but)
      return true;
  return pool->parcels;
}

/* Other threads run on, and may begin to write at any moment: before this one has the lock, and
 * the pool stays open; or behind that, and they find it clean and open it anew (log.c). */
void nvmi_pool_leave(struct nvm_pool *pool) {
  struct nvmi_thread *self = nvmi_thread_self();
  nvmi_lock(&pool->lock);
  bool stays_open = has_writer(pool, self) || self->touched >> pool->index & 1;
  nvmi_unlock(&pool->lock);
  if (stays_open) {
    nvm_pool_sync(pool); /* what this thread has committed */
    nvmi_trace_leave(pool);
    return;
  }
  checkpoint_all(pool);
  if (self->logs[pool->index])
    nvmi_ready_detach(self->logs[pool->index]);
  bool left = false;
  /* Another thread may have committed and ended since. Its end has fenced what it stored in place
   * (nvmi_log_detach); its references are not counted yet. The last batch of counts is stored again
   * when the pool is opened (counts.c). */
  while (!left) {
    nvmi_counts_drain(pool);
    nvmi_lock(&pool->lock);
    left = has_writer(pool, NULL) || !nvmi_counts_wait(pool);
    if (left && !has_writer(pool, NULL))
      call_clean(pool);
    nvmi_unlock(&pool->lock);
  }
  nvmi_trace_leave(pool);
}
