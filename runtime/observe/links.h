/* links.h: a point: all links are followed. */
#pragma once

#include <stdint.h>

/* Under the lock; a point. `frame`: of the interposed function. */
void nvmi_observe_follow(const void *frame, uint64_t point);
