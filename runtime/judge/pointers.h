/* pointers.h: unsafe pointers in what a transaction stored (pointers.c). */
#pragma once

#include "core/pool.h"

/* NVM_OK, or NVM_EUNSAFE with the pointer recorded: a pointer field among the bytes of `lines`, or
 * of what the log has captured, that holds the address of something outside the pool. */
enum nvm_error nvmi_check_pointers(struct nvmi_log *log, const struct nvmi_line *lines,
                                   size_t count);
/* The same of what signal handlers have stored in the middle of the commit, items `from` to below `end` of
 * their list: too late for a failure of that, so an unsafe pointer ends the process. */
void nvmi_check_late(struct nvmi_log *log, size_t from, size_t end);
/* Whether a block that reaches into one of these bytes has words of which any is judged. Of a heap
 * that is ready. */
bool nvmi_is_judged_at(struct nvm_pool *pool, uintptr_t start, uintptr_t end);
