/* domain.h: what a file can survive. */
#pragma once

#include "core/internal.h"

/* Sets header.domain and `persist` of the pool: from the file, and from NVMOVE_DOMAIN (process,
 * power). A domain that is forced is told of on stderr. */
void nvmi_domain_choose(struct nvm_pool *pool);
