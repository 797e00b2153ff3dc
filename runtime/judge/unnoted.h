/* unnoted.h: members to which the program stores without notes: those with NVM_VOLATILE, and locks.
 *
 * Nothing rolls such a store back. A note may cover these members all the same: where a whole record
 * is stored to, or where a function of a library stores. With a private view (shadow) an abort gives
 * back the file's bytes, and the file has these members as they were at some earlier commit. So an
 * abort leaves these members alone, but for those that a note has covered: it gives them back as
 * they were before the note (`covered` of a log).
 */
#pragma once

#include "core/thread.h"

enum { NVMI_SCALAR = 8 /* bytes: a store of no more is taken for one to a member that is noted */ };

/* Whether the pool's records may have such members; and whether a note of so many bytes may cover one. */
static inline bool nvmi_has_unnoted(const struct nvm_pool *pool) {
  return NVMI_UNLIKELY(atomic_load_explicit(&pool->has_volatile, memory_order_relaxed));
}
static inline bool nvmi_may_cover(const struct nvm_pool *pool, size_t size) {
  return size > NVMI_SCALAR && nvmi_has_unnoted(pool);
}

/* The bytes of such members in the line at this offset of the file, which is a multiple of 64. None
 * before the heap's tables are built. */
uint64_t nvmi_unnoted_in_line(struct nvm_pool *pool, uint64_t offset);

/* Before the bytes from `start` up to `end` are noted, by a thread at work: keeps what such members
 * have there. Out of memory: fatal. Nothing to do where a method has no private view. */
void nvmi_cover(struct nvmi_log *log, uintptr_t start, uintptr_t end);
