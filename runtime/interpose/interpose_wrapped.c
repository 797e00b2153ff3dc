/* interpose_wrapped.c: interpose.c once more, for programs that are linked statically
 * (interposed.def). */
#define NVMI_WRAPPED
#define NVMI_INTERPOSE __attribute__((visibility("default")))
#include "interpose/interpose.c"
