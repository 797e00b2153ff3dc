/* trace_persist.h: what makes bytes durable, while a trace is written. */
#pragma once

#include "platform/persist.h"

#include <stdbool.h>

/* Does what the table `real` of the trace does, and tells of it. */
extern const struct nvmi_persist nvmi_trace_persist;
/* Whether an address lies in the pool that is traced. */
bool nvmi_is_traced(const void *address);
