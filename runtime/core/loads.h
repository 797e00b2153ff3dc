/* loads.h: loads of persistent memory that compiled code announces (abi.def, __nvm_load). */
#pragma once

#include <stdint.h>

/* The number of the line that is mapped there, in whichever mapping of its pool. */
uint64_t nvmi_media_line(const void *address);
