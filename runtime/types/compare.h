/* compare.h: NVMOVE_DEBUG=compare: after a commit the program's view must equal the file. */
#pragma once

#include "core/pool.h"

extern _Atomic bool nvmi_compares; /* in a pool that is open */
/* The pool's view with its file: a difference ends the process with a message. */
void nvmi_compare(struct nvm_pool *pool);
/* All pools that are open so. */
void nvmi_compare_all(void);
