/* unwind.c: which call an output is of, and what led there.
 *
 * Instrumented code has announced its call. Elsewhere the calls are followed by the unwinder's
 * tables, which compilers write for each function: a chain of frame pointers would leave out calls,
 * for that code keeps none. Where a function has no tables the chain ends. What the runtime itself
 * writes is never followed: its entries keep registers in a way that tables do not say. Therefore
 * the chain also ends where a signal has interrupted something.
 */
#define _GNU_SOURCE
#include "outputs/unwind.h"

#include "outputs/outputs.h"
#include "trace/trace_outputs.h"
#include "trace/trace_state.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

struct walk {
  struct nvmi_callers *callers;
  uintptr_t above;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *to) {
  struct walk *walk = to;
  struct nvmi_callers *callers = walk->callers;
  int is_interrupted = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
  if (_Unwind_GetCFA(context) <= walk->above)
    return _URC_NO_REASON;
  if (!address || is_interrupted || callers->count == NVMI_CALLERS_MAX)
    return _URC_END_OF_STACK;
  if (callers->address[callers->count - 1] != address)
    callers->address[callers->count++] = address;
  return _URC_NO_REASON;
}

static void unwind(struct nvmi_callers *callers, const void *frame) {
  const uintptr_t *words = frame; /* the caller's frame, the return address */
  callers->address[0] = words[1];
  callers->count = 1;
  _Unwind_Backtrace(take_frame, &(struct walk){callers, (uintptr_t)frame});
}

void nvmi_output_begin(struct nvmi_output *made, const void *frame) {
  made->frame = frame;
  made->site = NULL;
  if (nvmi_tracing)
    nvmi_trace_announced(made);
}

void nvmi_output_end(struct nvmi_output *made, int descriptor, int64_t at, size_t size) {
  int before = errno;
  if (!nvmi_tracing || !nvmi_trace_is_told(descriptor))
    return;
  if (!made->site && descriptor == STDERR_FILENO)
    return; /* for people, and perhaps the runtime's own */
  if (!made->site)
    unwind(&made->callers, made->frame);
  nvmi_trace_output(made, descriptor, at, size);
  errno = before;
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, nvmi_trace_forked, NULL);
}
