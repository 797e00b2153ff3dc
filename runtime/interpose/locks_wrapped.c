/* locks_wrapped.c: locks.c once more, for programs that are linked statically (interposed.def). */
#define NVMI_WRAPPED
#include "interpose/locks.c"
