/* lost_types.h: types whose entries are gone from the end of the table, where nothing tells such an
 * entry from one that never was.
 *
 * Their records are still there: behind the last one that an entry names, or in a run of their own.
 * A crash leaves such a record, too, but no block of its type.
 */
#pragma once

#include "types/types.h"

/* The first type from `index` on, none of which the table has, that a block is of and that a record
 * may belong to; 0: there is none. */
unsigned nvmi_type_lost(const struct nvm_pool *pool, unsigned index);
