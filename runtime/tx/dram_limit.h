/* dram_limit.h: how much DRAM the private view of a pool takes (dram_limit.c). */
#pragma once

#include "core/pool.h"

/* The bytes of NVMOVE_SHADOW_DRAM; 0: it is not set, or makes no sense. */
uint64_t nvmi_dram_limit(void);
/* Reads NVMOVE_SHADOW_DRAM. -1: it makes no sense, recorded. */
int nvmi_dram_limit_start(struct nvm_pool *pool);
void nvmi_dram_limit_stop(struct nvm_pool *pool);

/* The program's view of the line at this offset was written. */
void nvmi_dram_limit_wrote(struct nvm_pool *pool, uint64_t offset);
/* After a commit: gives back pages when they are too many. */
void nvmi_dram_limit_keep(struct nvmi_log *log);
