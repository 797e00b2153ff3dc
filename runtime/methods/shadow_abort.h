/* shadow_abort.h: aborts of the method shadow. */
#pragma once

#include "core/log_state.h"
#include "core/method.h"

/* Of a transaction that has to do with others. */
void nvmi_shadow_abort_among_others(struct nvmi_log *log, const struct nvmi_line *lines,
                                    size_t count);
