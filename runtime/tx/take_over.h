/* take_over.h: another thread's log in a pool, and what that thread has open there, are taken over by the
 * thread that closes the pool.
 */
#pragma once

#include "core/thread.h"

/* Whether a log could be taken over. */
enum nvmi_taking {
  NVMI_TAKES,
  NVMI_TAKES_LATER, /* its owner is just ending something */
  NVMI_WAITS,       /* what is open has to wait for another thread's transaction */
  NVMI_OPEN_THERE,  /* a transaction */
  NVMI_TOGETHER,    /* what is open has a part in other pools, and others may depend on it */
  NVMI_WITH_ROOTS /* what is open goes with a port's variables, which its owner saves (port/port.h) */
};

/* The log, of another thread, and what its owner has noted in that pool and in no other, outside
 * transactions. Gives a state whose transaction the calling thread ends as any thread ends its own
 * (nvmi_tx_finish), if the state has `touched` the pool, and gives back then (nvmi_tx_give_back). Where it was
 * undone, the owner's `taken` has to say so. Null: nothing has changed; `taking` says why. All of that under the
 * lock of threads, which is not to be held while the caller waits for a better moment: the owner may need it
 * for that.
 *
 * The owner may go on in other pools meanwhile. It takes a new log where it comes to this one again. Its
 * next end, begin, commit point, split point or release of a lock promises that what was taken is committed: it waits
 * for that (nvmi_tx_await_taker). */
struct nvmi_thread *nvmi_tx_take_over(struct nvmi_log *log, enum nvmi_taking *taking);
void nvmi_tx_give_back(struct nvmi_thread *state);

/* Of the calling thread, which is not at work: returns when no close has anything of it that is not committed.
 * True: something that a close took was undone. Then what else the thread has open, now and until it ends that, is
 * to be undone as well: it is the rest of one transaction, and may be built on the same. Who has undone it says so
 * (nvmi_tx_told_of_loss). */
bool nvmi_tx_await_takers(struct nvmi_thread *thread);
static inline bool nvmi_tx_await_taker(struct nvmi_thread *thread) {
  return NVMI_UNLIKELY(atomic_load_explicit(&thread->taken, memory_order_acquire)) &&
         nvmi_tx_await_takers(thread);
}
static inline void nvmi_tx_told_of_loss(struct nvmi_thread *thread) {
  atomic_fetch_and(&thread->taken, (unsigned char)~NVMI_TAKEN_LOST);
}
