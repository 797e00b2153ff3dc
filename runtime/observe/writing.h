/* writing.h: the file that `nvmove observe` reads. */
#pragma once

#include <stdint.h>

/* Under the lock. Replaces DIR/PID.N.raw; what was there stays whole until then. */
void nvmi_observe_write(const char *folder, uint64_t points, const char *end);
