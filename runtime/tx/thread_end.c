/* thread_end.c: what a thread has open ends with it.
 *
 * A thread that ends commits what it wrote outside transactions, and aborts an open transaction. Its
 * logs are handed to the next thread that needs one.
 */
#include "tx/thread_end.h"

#include "base/signals.h"
#include "core/gate.h"
#include "core/root_hooks.h"
#include "heap/heap.h"
#include "order/order.h"
#include "tx/tx.h"

#include <assert.h>
#include <stdatomic.h>

static enum nvm_error finish(struct nvmi_thread *thread) {
  if (!nvmi_in_transaction(thread))
    return nvmi_tx_finish_implicit(thread);
  nvmi_tx_finish(thread, false);
  thread->begun = 0;
  thread->frames.count = thread->unwound = 0;
  return NVM_OK;
}

bool nvmi_tx_stays_open(const struct nvmi_thread *thread) {
  static atomic_flag told;
  bool has_ended = nvmi_root_hooks && nvmi_root_hooks->has_ended(thread);
  if (has_ended && thread->touched && !thread->begun && !atomic_flag_test_and_set(&told))
    nvmi_tell("nvmove: another thread than the one that loaded has entered a function of 'end' in "
              "the port file; "
              "what this one has stored since its last commit point is undone\n");
  return has_ended;
}

/* Where an implicit transaction is lost the process does not go on without knowing. Signals wait
 * (core/thread.c): what a handler stores behind the commit belongs to a new state of this thread.
 * The thread leaves the order before its logs change: whoever undoes a transaction reads the logs
 * of the nodes that depend on it. */
bool nvmi_tx_thread_ends(struct nvmi_thread *thread) {
  enum nvm_error error = NVM_OK;
  if (thread->busy || thread->in_heap || nvmi_has_locks())
    nvmi_fatal(
        NVM_ELIMIT, NULL,
        "a thread ended inside libnvmove: it was cancelled asynchronously, or a signal handler "
        "that interrupted libnvmove ended it; its transaction cannot be ended");
  if (nvmi_tx_stays_open(thread))
    return false;
  thread->leaves = true;
  nvmi_uses_open(thread); /* until it is gone: no close takes a log that is given back here */
  if (thread->node)       /* it may wait for a thread that ends, too */
    error = finish(thread);
  nvmi_threads_lock();
  if (!error)
    error = finish(thread);
  nvmi_order_leave(thread);
  assert(error || (!thread->touched && !thread->busy && !thread->in_heap && !thread->posts_count));
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++)
    if (thread->logs[i])
      nvmi_ready_detach(thread->logs[i]);
  nvmi_threads_unlock();
  if (error && error != NVM_ECHILD)
    nvmi_fatal(error, NULL,
               error == NVM_EUNSAFE ? nvm_strerror()
                                    : "what a thread that ends has stored outside transactions "
                                      "could not be committed");
  return true;
}
