/* landed.c: control comes to a frame by longjmp, by an exception, or because the thread ends.
 *
 * Atomic calls whose frames lie below were left. DRAM cannot be rolled back, so a jump or an exception ends them as a
 * return does. A thread that ends (pthread_exit, pthread_cancel) unwinds its stack, too, and handlers of
 * pthread_cleanup_push and destructors of C++ run on the way: there what is open stays open, until the end of the
 * thread undoes it (thread_end.c).
 */
#define _GNU_SOURCE
#include "tx/landed.h"

#include "base/signal_frame.h"
#include "core/root_hooks.h"
#include "tx/called.h"
#include "tx/tx.h"
#include "tx/tx_order.h"

#include <unwind.h>

/* What the jump has left besides. */
static struct nvmi_thread *land(void *frame) {
  struct nvmi_thread *thread = nvmi_thread_self();
  nvmi_tx_look_for_a_jump(thread);
  if (NVMI_UNLIKELY(thread->table->called))
    nvmi_called_left(thread, (uintptr_t)frame, 0);
  if (NVMI_UNLIKELY(nvmi_port_landed))
    nvmi_port_landed(frame);
  return thread;
}

/* A handler that interrupted libnvmove jumps: out of both, or within itself. Where nobody finds out what it has
 * interrupted (signal_frame.c), the thread asks when it calls libnvmove again. */
static void leave_libnvmove(struct nvmi_thread *thread, uintptr_t stack, uintptr_t from) {
  uintptr_t interrupted = nvmi_interrupted_stack();
  if (interrupted && (stack <= interrupted || nvmi_is_on_signal_stack(stack)))
    return; /* within itself: what it interrupted goes on */
  thread->jumped_from = from;
  thread->jumped_to = stack;
  if (interrupted)
    nvmi_tx_left(thread);
}

void nvmi_tx_left_below(struct nvmi_thread *thread, uintptr_t stack, uintptr_t from) {
  void **frames = thread->frames.items;
  size_t before = thread->frames.count;
  if (thread->busy) {
    leave_libnvmove(thread, stack, from);
    return;
  }
  while (thread->frames.count > thread->unwound &&
         nvmi_is_left((uintptr_t)frames[thread->frames.count - 1], stack, from))
    thread->frames.count--;
  if (thread->frames.count != before)
    nvmi_tx_leave(thread);
}

void __nvm_atomic_landed(void *Frame) { nvmi_tx_left_below(land(Frame), (uintptr_t)Frame, 0); }

/* From here on the thread only ends: its handlers may jump, too, and call atomic functions. */
void __nvm_atomic_unwound(void *Frame) {
  struct nvmi_thread *thread = land(Frame);
  thread->unwound = thread->frames.count;
}

/* Who unwinds without looking for a handler says to whom it belongs (the C++ ABI for Itanium, 1.6). */
void __nvm_atomic_thrown(void *Frame, void *Exception) {
  const struct _Unwind_Exception *exception = Exception;
  if (exception->private_1)
    __nvm_atomic_unwound(Frame);
  else
    __nvm_atomic_landed(Frame);
}

/* Whoever catches it: most of the code of a library is not compiled by nvmove-cc. */
void __nvm_atomic_passed(void *Frame, void *Exception) {
  __nvm_atomic_thrown(Frame, Exception);
  const struct _Unwind_Exception *exception = Exception;
  if (!exception->private_1)
    __nvm_atomic_leave(Frame);
}
