/* stats.h: what NVMOVE_STATS prints when a pool is closed. */
#pragma once

#include "core/pool.h"

void nvmi_stats_print(struct nvm_pool *pool);
