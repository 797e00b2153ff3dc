/* catches_wrapped.c: catches.c once more, for programs that are linked statically (interposed.def). */
#define NVMI_WRAPPED
#include "interpose/catches.c"
