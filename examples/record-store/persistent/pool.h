/* The pool that the store's state lives in. */
#include "nvmove/nvmove.h"

extern NVM_POOL *pool;
