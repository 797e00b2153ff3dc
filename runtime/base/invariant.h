/* invariant.h: sentences that always hold, looked at in builds without NDEBUG.
 *
 * A room says by a function which of its sentences does not hold: the function gives that sentence,
 * or null. The function stands between #ifndef NDEBUG and #endif, so a release has nothing of it.
 */
#pragma once

#include <assert.h>

#ifdef NDEBUG
#define NVMI_HOLDS(fault) ((void)0)
#else
/* Null: all holds. Else the process ends. */
void nvmi_invariant(const char *fault, const char *file, int line);
#define NVMI_HOLDS(fault) nvmi_invariant(fault, __FILE__, __LINE__)
#endif
