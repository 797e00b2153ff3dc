/* roots_reset.h: volatile fields of what a program makes before the load. */
#pragma once

#include "core/root_hooks.h"

/* The volatile fields of one object go to another. */
void nvmi_reset_object(const struct nvm_type *type, const char *from, char *to);

/* A block that the start allocated. */
void nvmi_roots_made(void *block);
/* Before the roots show the pool's values: the volatile fields of such blocks to which they point
 * now go to the pool's own. What else a root may hold is not looked at: it may be no address. */
void nvmi_roots_reset(struct nvm_pool *pool);
