/* described.h: the layouts that the program describes, and its libraries; each lasts as long as the
 * process. */
#pragma once

#include "base/basics.h"

/* Null: nobody describes it. By id, and by name. */
const struct nvm_type *nvmi_described(uint64_t id);
const struct nvm_type *nvmi_described_as(const char *name);
/* Somebody describes some type. */
bool nvmi_types_described(void);
/* Some type that is described has members whose stores nobody notes (NVM_VOLATILE). */
bool nvmi_types_have_volatile(void);
/* Grows when a library describes more. */
unsigned nvmi_types_generation(void);
/* The id of the n-th type that is described; 0: there are not so many. */
uint64_t nvmi_type_described(unsigned index);
