/* redo.h: what a commit record says, done: by recovery; or flushed once more (checkpoint.h). */
#pragma once

#include "core/pool.h"

/* Whether the program may have stored there: in the heap, or in the root's page. */
bool nvmi_in_view(const struct nvm_pool *pool, uint64_t offset, uint64_t size);

/* Stores the low 16 bits of an operation where it says, flushed; false: outside the heap's tables.
 */
bool nvmi_apply_operation(struct nvm_pool *pool, uint64_t operation);

/* Stores what a frame of a record has, flushed, not fenced; false: it makes no sense. */
bool nvmi_redo_frame(struct nvm_pool *pool, const struct nvm_frame *frame);
/* Flushes what a frame of a record has stored, not fenced; the frame makes sense. */
void nvmi_redo_flush(const struct nvm_pool *pool, const struct nvm_frame *frame);
