/* unwind.h: an output of the C library's function, from its begin to its end. */
#pragma once

#include "trace/trace_outputs.h"

/* The function with this frame begins; the call of the library's function has succeeded.
 * errno stays. */
void nvmi_output_begin(struct nvmi_output *made, const void *frame);
void nvmi_output_end(struct nvmi_output *made, int descriptor, int64_t at, size_t size);
