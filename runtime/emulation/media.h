/* media.h: pools of the power domain in memory that is emulated: libnvmove waits where it makes bytes
 * durable, as that memory would let it wait (`docs/reference/emulation.md`).
 *
 * A fence waits for all lines that its thread has flushed or streamed since its last fence: as the
 * model `cached` charges a commit. Loads are not charged: nobody announces them.
 */
#pragma once

#include "platform/persist.h"

/* What is wrong with NVMOVE_EMULATE; null: nothing, or it is not set. For the calling thread, until its
 * next call. */
const char *nvmi_media_fault(void);
/* `real`, with the waits of NVMOVE_EMULATE; `real` itself where nothing is emulated. */
const struct nvmi_persist *nvmi_media(const struct nvmi_persist *real);
/* A pool in another domain flushes nothing, so nothing can be charged: tells so, once. */
void nvmi_media_tell_unused(const char *path);
