/* commit_wait.h: a commit waits for the transactions that it depends on (order.h). */
#pragma once

#include "core/thread.h"

enum nvmi_waited {
  NVMI_WAITED_COMMIT,
  NVMI_WAITED_BROKEN,
  NVMI_WAITED_STUCK,
  NVMI_WAITED_UNSAFE,
  NVMI_WAITED_LATER
};
/* Waits for the transactions that this one depends on. Commit: they have ended, or nothing was
 * written; what was open may have been committed with one of them. Broken: one of them was aborted.
 * Stuck: one waits for a lock that is held until this one has ended. Unsafe: it would have joined
 * another, and holds an unsafe pointer, which the failure names. Later, of a wait that is
 * bounded: they have not. */
enum nvmi_waited nvmi_commit_wait(struct nvmi_thread *thread);
enum nvmi_waited nvmi_commit_wait_soon(struct nvmi_thread *thread);
