/* unwind.c: which call an output is of, and what led there.
 * Instrumented code has announced its call. */
#define _GNU_SOURCE
#include "outputs/outputs.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

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
    nvmi_trace_find_callers(&made->callers, made->frame);
  nvmi_trace_output(made, descriptor, at, size);
  errno = before;
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, nvmi_trace_forked, NULL);
}
