/* domain.h: what a file can survive, and which method that suggests. */
#pragma once

#include "core/internal.h"

/* Sets header.domain, header.method, `persist` and `method` of the pool from the file and from
 * NVMOVE_DOMAIN (process, power) and NVMOVE_METHOD (undo, shadow). */
void nvmi_domain_choose(struct nvm_pool *pool);

const struct nvmi_method *nvmi_method_of(uint32_t id);
