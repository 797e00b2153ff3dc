/* order_turn.h: what a commit may do now: its turn (order.h). */
#pragma once

#include "core/thread.h"

enum nvmi_turn {
  NVMI_TURN_COMMIT,
  NVMI_TURN_BROKEN,
  NVMI_TURN_STUCK,
  NVMI_TURN_UNSAFE,
  NVMI_TURN_LATER
};
/* Waits for the transactions that this one depends on. Commit: they have ended, or nothing was
 * written; what was open may have been committed with one of them. Broken: one of them was aborted.
 * Stuck: one waits for a lock that is held until this one has ended. Unsafe: it would have joined
 * another, and holds an unsafe pointer, which the failure names. Later, of a wait that is
 * bounded: they have not. */
enum nvmi_turn nvmi_order_turn(struct nvmi_thread *thread);
enum nvmi_turn nvmi_order_turn_soon(struct nvmi_thread *thread);
