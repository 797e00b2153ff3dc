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

struct nvmi_quick {
  struct nvm_pool *pool;       /* null: none */
  uint64_t start, size;        /* its addresses */
  struct nvmi_log *const *log; /* leads to null where the thread has no log there any more */
  uint64_t home; /* from an address to that of the same byte in the file, modulo 2^64 */
  uint64_t bit;  /* of the pool, as in struct nvmi_thread */
};
_Static_assert(sizeof(struct nvmi_quick) <= sizeof(((struct nvm_line_table *)0)->quick),
               "it lies in the table");

/* The thread is about to have a log in `pool`. The pool is not the one that it had here before, if only by its number:
 * that one is forgotten. A handler finds all of it, or none. */
static inline void nvmi_quick_begin(struct nvmi_thread *thread, struct nvm_pool *pool) {
  const struct nvmi_method *method = pool->method;
  if (!thread->table) /* nvmi_nobody */
    return;
  struct nvmi_quick *quick = (struct nvmi_quick *)thread->table->quick;
  quick->pool = NULL;
  nvmi_compiler_barrier();
  if (!NVMI_MAY_BE_QUICK || method->note || method->settle || method->store)
    return;
  quick->start = pool->header.base;
  quick->size = pool->header.range;
  quick->log = &thread->logs[pool->index];
  quick->home = (uint64_t)(uintptr_t)pool->home - pool->header.base;
  quick->bit = UINT64_C(1) << pool->index;
  nvmi_compiler_barrier();
  quick->pool = pool;
}
