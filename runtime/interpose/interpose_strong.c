/* interpose_strong.c: interpose.c once more, for programs with a sanitizer. */
#define NVMI_INTERPOSE __attribute__((visibility("default")))
const char __nvmi_interpose_strong = 1; /* nvmove-cc asks the linker for this */
#include "interpose/interpose.c"
