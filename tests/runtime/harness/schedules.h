/* schedules.h: a pool with two logs that is worked on until the power fails, for schedules.c and
 * handlers.c. */
#pragma once

#include "harness.h"
#include "simulation.h"

enum { WORDS = 3000 }; /* more than a log's first segment has room for */

struct root {
  uint64_t word, blocks;
  uint64_t far[WORDS];
};

extern NVM_POOL *pool;
extern struct root *root;
/* Shared with the process whose power fails: what its transactions that returned have written. */
extern volatile uint64_t *acknowledged;

void share_progress(void);
/* Makes a pool with two logs, so that none is made later. */
void prepare(void *path);
/* Opens it for a simulation of so many events; what follows may fail after power_hold(false). */
void begin(const void *cut);
void end(void);
/* The image is whole, has the blocks that it says, and what `verify` looks at. */
void verify_with(const char *path, void (*verify)(const struct root *));
void in_thread(void *(*work)(void *));
/* A commit of the other log. */
void *take_log(void *unused);
