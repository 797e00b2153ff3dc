/* tx_fault.h: what holds when a transaction has ended (base/invariant.h). */
#pragma once

#include "core/thread.h"

#ifndef NDEBUG
/* What does not hold of a thread whose transaction in these pools (bits) has ended, and of its logs;
 * null: all does. */
const char *nvmi_tx_fault(const struct nvmi_thread *thread, uint64_t pools);
#endif
