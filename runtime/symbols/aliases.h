/* aliases.h: several names of one place.
 *
 * Some belong together for good, as those of the C library; others are those of functions that the
 * linker found to be the same in this build (identical code folding), or of a weak default. Which
 * of them a pointer meant nothing says. So all are noted, and the place is found again where all
 * lie together again.
 */
#pragma once

#include "symbols/modules.h"

/* The other names of the place's symbol become its `aliases`, which stay until the next call; too
 * many: nothing tells what was meant (has_namesakes). */
void nvmi_aliases_find(const struct nvmi_module *module, struct nvmi_place *place);

/* Whether all of them lie at `offset` now. */
bool nvmi_aliases_lie_at(const struct nvmi_module *module, const struct nvmi_place *place,
                         uint64_t offset);
