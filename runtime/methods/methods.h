/* methods.h: the methods that there are (core/method.h). */
#pragma once

#include "core/method.h"

extern const struct nvmi_method nvmi_undo, nvmi_shadow;

/* undo_own.c: as the method's `own_bytes`. */
void nvmi_undo_own_bytes(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                         struct nvmi_array *own);
