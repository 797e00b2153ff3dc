/* charge.h: programs compiled with --emulate wait at their accesses to persistent types, as if these
 * lay in slower memory (NVMOVE, section 4.2).
 *
 * Charge: what an access costs. Charged thread: its counts, and the ticks that it has waited too long,
 * which its next wait is shorter by.
 */
#pragma once

#include <stdbool.h>

/* The program has code that was compiled with --emulate. It notes nothing. */
bool nvmi_emulates(void);
