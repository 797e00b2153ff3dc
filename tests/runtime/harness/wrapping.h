/* wrapping.h: transactions through nvmove/wrap.h whose result is known: each store is made in a model in
 * DRAM, too, and each load is held against it. */
#pragma once

#include "workload.h"

#include <stdbool.h>

/* The methods that there are. */
extern const char *const wrapping_methods[];
enum { WRAPPING_METHODS = 4 };

/* The stores and loads are those of a program that is compiled with --nvmove-redirect: some in place. To be set before the
 * first run. */
extern bool wrapping_redirected;

/* As workload_run: opens or creates the pool, goes on after the last committed transaction to the
 * `end`-th, closes it. Every second is preceded by one that is aborted. */
void wrapping_run(const char *path, struct progress *progress, uint64_t end);

/* As workload_verify; the pool is opened with one of the methods, in turns. */
uint64_t wrapping_verify(const char *path, const struct progress *progress);
