/* recover.h: the file is brought to the state after the last commit. */
#pragma once

#include "log/log_read.h"

/* Brings the file to the state after the last commit. A failure is recorded; repeating is safe.
 * `leaves_out`: frames that are damaged are done without, where a failure would say NVM_ECORRUPT.
 */
int nvmi_recover(struct nvm_pool *pool, bool leaves_out);
