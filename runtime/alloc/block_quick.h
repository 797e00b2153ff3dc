/* block_quick.h: the usual way of a free that need not be done at once. */
#pragma once

#include <stdbool.h>

/* As nvm_free, of a block that is older than the transaction; false: it is not done. That it
 * was free already is found a little later, and ends the process. */
bool nvmi_free_soon(void *address);
