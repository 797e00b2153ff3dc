/* cache.h: a cache that all threads share, as the model `cached` has it: which lines it holds. Sixteen
 * ways; of a full set a line goes that is chosen at random.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False: out of memory. */
bool nvmi_cache_make(uint64_t bytes);
/* Whether the line is there; it is from now on. From any thread. */
bool nvmi_cache_touch(uint64_t line);
