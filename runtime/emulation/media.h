/* media.h: pools of the power domain in memory that is emulated: libnvmove waits where it makes bytes
 * durable, as that memory would let it wait (`docs/reference/emulation.md`).
 *
 * A fence waits for all lines that its thread has flushed or streamed since its last fence: as the
 * model `cached` charges a commit. Loads are charged where compiled code announces them (core/loads.c).
 */
#pragma once

#include "platform/persist.h"

/* What is wrong with NVMOVE_EMULATE; null: nothing, or it is not set. For the calling thread, until its
 * next call. */
const char *nvmi_media_fault(void);
/* `real`, with the waits of NVMOVE_EMULATE; `real` itself where nothing is emulated. `line_at` gives the
 * number of the line at an address, by which the modelled cache knows it. */
const struct nvmi_persist *nvmi_media(const struct nvmi_persist *real,
                                      uint64_t (*line_at)(const void *address));
/* A pool in another domain flushes nothing, so nothing can be charged: tells so, once. */
void nvmi_media_tell_unused(const char *path);
