/* charge.h: programs compiled with --emulate wait at their accesses to persistent types, as if these
 * lay in slower memory (NVMOVE, section 4.2).
 *
 * Charge: what an access costs. Charged thread: its counts, and the ticks that it has waited too long,
 * which its next wait is shorter by.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct nvmi_charged;

/* A load of so many lines from number `line` on, begun at `start` (clock.h): waits as the model says, and
 * gives the nanoseconds. `start` 0, in the model `worst`: the wait is over (nvmi_is_paid). */
uint64_t nvmi_charge_load(struct nvmi_charged *me, uint64_t start, uint64_t line, uint64_t lines);
/* The modelled cache has these lines now: they were stored to. */
void nvmi_charge_keep(struct nvmi_charged *me, uint64_t line, uint64_t lines);
/* Measures what a charge costs beside its wait. Where nobody is charged yet. */
void nvmi_charge_calibrate(void);

/* The program has code that was compiled with --emulate. It notes nothing. */
bool nvmi_emulates(void);
