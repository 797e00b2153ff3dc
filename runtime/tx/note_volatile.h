/* note_volatile.h: a note that covers members to which the program stores without notes.
 *
 * Such members are those with NVM_VOLATILE, and locks. A note covers them where a whole record is
 * stored to, or where a function of a library stores. With a private view (shadow) an abort gives
 * back what the file has, and the file has these members as they were at some earlier commit. So the
 * file gets their present bytes before the note: then an abort gives them back. The file may have
 * any of their values at a crash, because their value means nothing after a restart.
 */
#pragma once

#include "core/thread.h"

enum { NVMI_SCALAR = 8 /* bytes; a store of no more is to one member, and that one is noted */ };

/* Whether a note of so many bytes may cover such a member. */
static inline bool nvmi_may_cover_volatile(const struct nvm_pool *pool, size_t size) {
  return size > NVMI_SCALAR &&
         NVMI_UNLIKELY(atomic_load_explicit(&pool->has_volatile, memory_order_relaxed));
}

/* Before the bytes from `start` up to `end` are noted, by a thread at work. A pool without a private view,
 * and a heap that is damaged, are left as they are. */
void nvmi_note_volatile(struct nvmi_thread *thread, struct nvm_pool *pool, uintptr_t start,
                        uintptr_t end);
