/* lat.h: what the methods `lat` and `latb` have in common: programs store to their pools through
 * calls (nvmove/wrap.h, --nvmove-redirect). */
#pragma once

#include "core/method.h"

/* Of a store that was noted, in a program that is not redirected: ends it, or calls its handler. */
void nvmi_refuse_plain_store(struct nvmi_log *log);
/* As the method's functions: `drain`, as there is nothing to wait for; and `store`. */
void nvmi_drain_nothing(struct nvmi_log *log);
void nvmi_alias_store(struct nvmi_log *log, char *to, const char *from, size_t size);
