/* streams.c: calls that empty the buffer of a stream: see outputs.h. Printing, which empties it
 * sometimes, is looked at behind the call (trace/trace_outputs.c). */
#define _GNU_SOURCE
#include "outputs/streams.h"

#include "outputs/outputs.h"
#include "outputs/unwind.h"
#include "trace/trace_outputs.h"

#include <errno.h>
#include <stdio_ext.h>
#include <unistd.h>

const char nvmi_outputs_streams = 1;

/* Where the bytes go that wait in a stream; NVMI_NOWHERE: there are none, or others cannot read
 * them. */
static int waiting_for(FILE *stream) {
  if (!nvmi_tracing || !__fwriting(stream) || !__fpending(stream))
    return NVMI_NOWHERE;
  int before = errno, descriptor = fileno(stream);
  bool is_told = descriptor >= 0 && descriptor != STDERR_FILENO && nvmi_trace_leaves(descriptor);
  errno = before;
  return is_told ? descriptor : NVMI_NOWHERE;
}

bool nvmi_output_waits(FILE *stream) { return waiting_for(stream) != NVMI_NOWHERE; }

static void end(struct nvmi_output *made) {
  nvmi_output_end(made, NVMI_NOWHERE, NVMI_ANY_OFFSET, 0);
}

/* Of all streams only the program's own call is told: nobody knows what waits in them. */
#define FLUSH(name)                                                                                \
  NVMI_INTERPOSE int name(FILE *stream) {                                                          \
    BEGIN(made);                                                                                   \
    bool is_output = stream ? nvmi_output_waits(stream) : made.site != NULL;                       \
    int result = NEXT(name)(stream);                                                               \
    if (result == 0 && is_output)                                                                  \
      end(&made);                                                                                  \
    return result;                                                                                 \
  }

FLUSH(fflush)
FLUSH(fflush_unlocked)

NVMI_INTERPOSE int fclose(FILE *stream) {
  BEGIN(made);
  bool is_output = nvmi_output_waits(stream);
  int result = NEXT(fclose)(stream);
  if (result == 0 && is_output)
    end(&made);
  return result;
}

NVMI_INTERPOSE int pclose(FILE *stream) {
  BEGIN(made);
  bool is_output = nvmi_output_waits(stream);
  int result = NEXT(pclose)(stream);
  if (result != -1 && is_output)
    end(&made);
  return result;
}
