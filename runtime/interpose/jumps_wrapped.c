/* jumps_wrapped.c: jumps.c once more, for programs that are linked statically (interposed.def). */
#define NVMI_WRAPPED
#include "interpose/jumps.c"
