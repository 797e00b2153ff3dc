/* thread_end.h: the end of a thread (core/thread.c calls it as nvmi_thread_ends). */
#pragma once

#include "core/thread.h"

bool nvmi_tx_thread_ends(struct nvmi_thread *thread);
