/* trace_persist.c: every flush, streamed line and fence of the runtime is told with the bytes that it
 * carries. */
#include "trace/trace_persist.h"

#include "trace/trace.h"
#include "trace/trace_state.h"

enum { LINE = 64 };

bool nvmi_is_traced(const void *address) {
  return nvmi_tracing && nvmi_trace_offset(address) < nvmi_trace_state.span;
}

static void trace_stream(void *to, const void *from, size_t size) {
  nvmi_trace_state.real->stream(to, from, size);
  if (nvmi_is_traced(to))
    nvmi_trace_tell(&(struct nvmi_told){
        .kind = NVM_TRACE_STREAM, .place = nvmi_trace_offset(to), .payload = from, .size = size});
}

static void trace_flush(const void *address, size_t size) {
  if (nvmi_is_traced(address)) {
    uint64_t first = nvmi_trace_offset(address) & ~(uint64_t)(LINE - 1);
    uint64_t end = (nvmi_trace_offset(address) + size + LINE - 1) & ~(uint64_t)(LINE - 1);
    nvmi_trace_tell(&(struct nvmi_told){.kind = NVM_TRACE_FLUSH,
                                        .place = first,
                                        .payload = nvmi_trace_state.pool->home + first,
                                        .size = end - first});
  }
  nvmi_trace_state.real->flush(address, size);
}

static void trace_fence(void) {
  nvmi_trace_state.real->fence();
  nvmi_trace_alone(NVM_TRACE_FENCE, 0);
}

static void trace_store_line(void *to, const void *from, uint64_t mask) {
  nvmi_trace_state.real->store_line(to, from, mask);
  if (nvmi_is_traced(to))
    nvmi_trace_tell(&(struct nvmi_told){.kind = NVM_TRACE_LINE,
                                        .place = nvmi_trace_offset(to),
                                        .extra = mask,
                                        .payload = from,
                                        .size = LINE});
}

const struct nvmi_persist nvmi_trace_persist = {.name = "traced",
                                                .stream = trace_stream,
                                                .append = trace_stream,
                                                .flush = trace_flush,
                                                .fence = trace_fence,
                                                .store_line = trace_store_line};
