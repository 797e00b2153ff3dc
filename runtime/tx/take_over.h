/* take_over.h: another thread's log in a pool, and what that thread has open there, are taken over by the
 * thread that closes the pool.
 */
#pragma once

#include "core/thread.h"

/* The log, of another thread, and what its owner has noted in that pool and in no other, outside
 * transactions. Gives a state whose transaction the calling thread ends as any thread ends its own
 * (nvmi_tx_finish), if the state has `touched` the pool, and gives back then (nvmi_tx_give_back). The owner
 * may go on in other pools meanwhile. It takes a new log where it comes to this one again. Under the lock
 * of threads. Null: recorded, and nothing has changed: NVM_EOPENTX: a transaction is open there; or would have
 * to wait for another, or is part of one with other pools. */
struct nvmi_thread *nvmi_tx_take_over(struct nvmi_log *log);
void nvmi_tx_give_back(struct nvmi_thread *state, struct nvmi_log *log);
