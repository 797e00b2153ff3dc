/* thread_end.h: the end of a thread (core/thread.c calls it as nvmi_thread_ends). */
#pragma once

#include "core/thread.h"

void nvmi_tx_thread_ends(struct nvmi_thread *thread);
/* The logs in which nothing is open go to the next thread that needs one. */
void nvmi_tx_give_logs_back(struct nvmi_thread *thread);
