/* wrap.h: stores and loads for who has no compiler that notes them: the program (nvmove/wrap.h), and the
 * runtime itself where it changes blocks that are older than the transaction. */
#pragma once

#include "core/thread.h"

/* Stores bytes, as the pool's method does: noted and in place, or as the method's `store`. `to` may lie
 * in no pool. A store that cannot be made failure-atomic is fatal. */
void nvmi_write(void *to, const void *from, size_t size);
/* Copies bytes as the calling thread has stored them last. */
void nvmi_read(void *to, const void *from, size_t size);

/* The thread is about to release a lock, or to commit: what it has in alias tables goes where others,
 * and the commit, find it. */
void nvmi_wrap_before_release(struct nvmi_thread *thread);
void nvmi_wrap_before_commit(struct nvmi_thread *thread);
