/* quick.h: the pool in which compiled code notes by itself what is simple (abi.h, tx/sites.c): where the lines of the table
 * are all that a commit needs. The thread's last one to which it has made a log.
 */
#pragma once

#include "core/method.h"
#include "core/thread.h"

/* ThreadSanitizer sees nothing of what the sites do. */
#if __has_feature(thread_sanitizer)
enum { NVMI_MAY_BE_QUICK = 0 };
#else
enum { NVMI_MAY_BE_QUICK = 1 };
#endif

/* The thread is about to have a log in `pool`. The pool is not the one that it had here before, if only by its number: that one
 * is forgotten. A handler finds all of it, or none. */
static inline void nvmi_quick_begin(struct nvmi_thread *thread, struct nvm_pool *pool) {
  const struct nvmi_method *method = pool->method;
  if (!thread->table) /* nvmi_nobody */
    return;
  thread->table->quick.pool = NULL;
  nvmi_compiler_barrier();
  if (!NVMI_MAY_BE_QUICK || method->note || method->settle || method->store)
    return;
  thread->table->quick.start = pool->header.base;
  thread->table->quick.size = pool->header.range;
  thread->table->quick.log = (void *const *)&thread->logs[pool->index];
  thread->table->quick.home = (uint64_t)(uintptr_t)pool->home - pool->header.base;
  thread->table->quick.bit = UINT64_C(1) << pool->index;
  nvmi_compiler_barrier();
  thread->table->quick.pool = pool;
}
