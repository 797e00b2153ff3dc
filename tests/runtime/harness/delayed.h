/* delayed.h: a pool of a few words whose commits do not wait for the disk, for delayed_by_hand.c and
 * delayed_lost.c. */
#pragma once

#include "nvmove/nvmove.h"

#include <stdint.h>

enum { WORDS = 3000, PATIENCE = 500, LATER_US = 10000 };

struct root {
  uint64_t word, other;
  uint64_t far[WORDS];
};

/* From now on: the domain disk, and NVMOVE_DURABLE. */
void delayed_set(const char *durable);
/* A new pool, closed. */
void delayed_make(const char *path);
/* The pool that is open, and its root. */
extern NVM_POOL *delayed_pool;
extern struct root *delayed_root;
void delayed_open(const char *path);
/* A commit of the open pool: `word` becomes `value`. */
void delayed_commit(uint64_t value);
/* Opens a pool, looks, and closes it. */
uint64_t delayed_word_in(const char *path);
