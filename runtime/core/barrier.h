/* barrier.h: a barrier that one thread makes in all threads of the process.
 *
 * Threads that run without locked instructions are ordered by it (membarrier(2)).
 */
#pragma once

#include "core/thread.h"

/* The process will use the barrier. False: the kernel cannot. */
bool nvmi_barrier_prepare(void);
/* What each running thread did before is seen by this one, and the other way round; false: the
 * kernel cannot. */
bool nvmi_barrier_in_all_threads(void);
/* The same, behind which what any thread has flushed or streamed is durable in this pool. */
void nvmi_fence_all_threads(const struct nvm_pool *pool);
#define NVMI_NO_BARRIER                                                                            \
  "several threads use pools, and the kernel refuses membarrier(2); it needs Linux 4.14, and a "   \
  "sandbox that allows the call"

/* ThreadSanitizer does not know that barrier, and is told: what a thread did before it said that it
 * rests is seen by who finds it so behind the barrier. */
#if __has_feature(thread_sanitizer)
void __tsan_release(void *address);
void __tsan_acquire(void *address);
static inline void nvmi_says_it_rests(struct nvmi_thread *thread) { __tsan_release(thread); }
static inline void nvmi_sees_at_rest(struct nvmi_thread *thread) { __tsan_acquire(thread); }
#else
static inline void nvmi_says_it_rests(struct nvmi_thread *thread) { (void)thread; }
static inline void nvmi_sees_at_rest(struct nvmi_thread *thread) { (void)thread; }
#endif
