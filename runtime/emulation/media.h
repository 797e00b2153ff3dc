/* media.h: pools of the power domain in memory that is emulated: libnvmove waits where it makes bytes
 * durable, as that memory would let it wait (`docs/reference/emulation.md`).
 *
 * A fence waits for all lines that its thread has flushed or streamed since its last fence: as the
 * model `cached` charges a commit. Loads are charged where compiled code announces them (core/loads.c).
 */
#pragma once

#include "platform/persist.h"

/* The number of the line of the media that is mapped there, in whichever mapping. Set at the start of a
 * program that announces loads; null: it does not. */
extern uint64_t (*nvmi_media_line_at)(const void *address);

/* What is wrong with NVMOVE_EMULATE; null: nothing, or it is not set. For the calling thread, until its
 * next call. */
const char *nvmi_media_fault(void);
/* `real`, with the waits of NVMOVE_EMULATE; `real` itself where nothing is emulated. */
const struct nvmi_persist *nvmi_media(const struct nvmi_persist *real);
/* A pool in another domain flushes nothing, so nothing can be charged: tells so, once. */
void nvmi_media_tell_unused(const char *path);
