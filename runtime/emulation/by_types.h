/* by_types.h: what is charged through which types: counted where somebody wants to know.
 *
 * Types of an access: the persistent ones that the path to it goes through, by their names in the order
 * of the alphabet, with commas between them, as compiled code gives them. An access is counted once, for
 * all its types together: what one of them costs alone, and what it costs at most, are sums of these.
 */
#pragma once

#include "nvmove/emulation.h"

#include <stdbool.h>

/* Whether somebody wants to know: NVMOVE_STATS is 1, or NVMOVE_EMULATE_COUNTS names a file. Set once. */
extern bool nvmi_by_types_wanted;
/* Null, or what is wrong with the file. */
const char *nvmi_by_types_begin(void);

/* The counts of one thread by types, the newest table first. Another thread takes them over when that one has ended. */
struct nvmi_types_table;

/* A thread's, to be added to. `types` may go away later. Where there is no place for more, the program ends. */
struct nvm_counted *nvmi_by_types(struct nvmi_types_table **newest, const char *types);

/* Tells the most expensive ones on stderr, if NVMOVE_STATS is 1. */
void nvmi_by_types_tell(void);
