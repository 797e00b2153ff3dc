/* trace_points.h: places of the program: a site together with its callers, by number. */
#pragma once

#include "trace/trace_state.h"

/* Who called the function whose frame this is, in a stack with these ends. */
void nvmi_trace_callers(struct nvmi_callers *callers, const void *frame, uintptr_t stack,
                        uintptr_t stack_end);
/* The site of code that nothing instruments: only its callers say where it is. */
extern const struct nvm_site nvmi_trace_elsewhere;
/* With the lock: the number of a site together with its callers. */
uint64_t nvmi_trace_point(const struct nvm_site *site, const struct nvmi_callers *callers);
