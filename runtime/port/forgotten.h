/* forgotten.h: variables that a port file forgot. */
#pragma once

#include "core/pool.h"

/* Tells of variables of the program that lead into the pool and are no roots; */
void nvmi_forgotten_look(struct nvm_pool *pool);
/* and of those that the load has changed, if NVMOVE_DEBUG asks for it. */
void nvmi_forgotten_load_begins(void);
void nvmi_forgotten_load_ends(const struct nvm_pool *pool);
