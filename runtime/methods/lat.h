/* lat.h: what the methods `lat` and `latb` have in common: programs store to their pools through
 * nvmove/wrap.h alone. */
#pragma once

#include "core/method.h"

/* As the method's functions: `note` of a plain store, which ends the program or calls its handler;
 * `drain`, as there is nothing to wait for; and `store`. */
void nvmi_refuse_plain_store(struct nvmi_log *log, const void *address, size_t size);
void nvmi_drain_nothing(struct nvmi_log *log);
void nvmi_alias_store(struct nvmi_log *log, char *to, const char *from, size_t size);
