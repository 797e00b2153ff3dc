/* call.h: has a program save itself in its own way: `nvmove pool export`.
 *
 * NVMOVE_CALL=save("dump",0), with NVMOVE_OPEN=copy: when the pool NVMOVE_CALL_POOL has been opened
 * and the program is at rest - at its first commit point outside of transactions, or when it ends -
 * its function of that name is called with these numbers and texts. What it gives is written to
 * the file NVMOVE_CALL_DONE; then the process ends. Without NVMOVE_CALL that file is told only that
 * the pool was opened.
 */
#pragma once

#include "core/internal.h"

extern bool nvmi_call_armed;

/* A pool was opened. */
void nvmi_call_arm(const struct nvm_pool *pool);
/* The program is at rest. */
void nvmi_call_now(void);
