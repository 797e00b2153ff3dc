/* choice.h: which method makes a pool's bytes durable. */
#pragma once

#include "core/pool.h"

/* Sets header.domain and `persist` of the pool: from the file, and from NVMOVE_DOMAIN (process, power,
 * disk). */
void nvmi_domain_choose(struct nvm_pool *pool);
/* In a program of a port file that calls fork: a child has no view of a pool with `undo`. Missing in all
 * others (plugin/porting/Port.cpp). */
extern const char __nvm_port_forks __attribute__((weak));

/* Then header.method and `method`: from the domain, and from NVMOVE_METHOD (undo, shadow); and what
 * durable.h chooses. -1: recorded. */
int nvmi_method_choose(struct nvm_pool *pool);

/* Null: there is none with this number. */
const struct nvmi_method *nvmi_method_of(uint32_t id);
