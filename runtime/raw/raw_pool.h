/* raw_pool.h: pools of libpmemobj that the program opens. */
#pragma once

/* Pools that are opened from then on. Called before the program has threads. */
void nvmi_raw_follow_pools(void);
