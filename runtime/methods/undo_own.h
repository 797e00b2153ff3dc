/* undo_own.h: what a transaction of the method undo has itself stored. */
#pragma once

#include "core/method.h"

/* As the method's `own_bytes`. */
void nvmi_undo_own_bytes(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                         struct nvmi_array *own);
