/* trace_shared.h: what else the process shares with others, beside the files of pools. */
#pragma once

/* Writes it down; with the trace's lock. */
void nvmi_trace_shared(void);
