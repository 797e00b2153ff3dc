/* take_over.h: what another thread has open in a pool is taken over by the thread that closes the pool. */
#pragma once

#include "core/thread.h"

/* What the log's owner has noted, outside transactions, in that pool and in no other, and its log. Gives a
 * state that the calling thread commits as any thread commits its own (nvmi_tx_finish), and gives
 * back then (nvmi_tx_give_back). The owner, another thread, may go on in other pools meanwhile, and takes a new
 * log where it comes to this one again. Under the lock of threads.
 * Null: recorded, and nothing has changed: NVM_EOPENTX: it would have to wait for another transaction, or is part
 * of one with other pools; NVM_ESYSTEM: no barrier. `*none`: there was nothing left to take over. */
struct nvmi_thread *nvmi_tx_take_over(struct nvmi_log *log, bool *none);
void nvmi_tx_give_back(struct nvmi_thread *state, struct nvmi_log *log);
