/* by_types.h: what is charged through which types: counted where somebody wants to know.
 *
 * Types of an access: the persistent ones that the path to it goes through, by their names in the order
 * of the alphabet, with commas between them, as compiled code gives them. An access is counted once, for
 * all its types together: what one of them costs alone, and what it costs at most, are sums of these.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct nvmi_counts_by_types {
  uint64_t loads, stores, nanoseconds;
};

/* Whether somebody wants to know: NVMOVE_STATS is 1, or NVMOVE_EMULATE_COUNTS names a file. Set once. */
extern bool nvmi_by_types_wanted;
void nvmi_by_types_begin(void);

/* The calling thread's, to be added to; NULL: out of memory. `types` is compared by its address. */
struct nvmi_counts_by_types *nvmi_by_types(const char *types);

/* Tells the most expensive ones on stderr, if NVMOVE_STATS is 1; adds all to the file of
 * NVMOVE_EMULATE_COUNTS, one a line: types, loads, stores, nanoseconds, with tabs between them. */
void nvmi_by_types_tell(void);
/* In a child of fork: counts begin anew. */
void nvmi_by_types_forget(void);
