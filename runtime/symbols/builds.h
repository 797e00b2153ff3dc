/* builds.h: what tells a module from others of its name, and from itself built anew.
 *
 * The id that the linker gave it, and a sum of what is loaded of it and nobody can write: some give
 * the same id to each build. Of a module with an id code is left out of the sum, since a debugger
 * changes it; of one without, or with one too short for a hash of its bytes, it is part of it.
 */
#pragma once

#include "symbols/modules.h"

enum {
  NVMI_LINKED_ID = 20, /* bytes of the linker's; the sum lies at the end */
  NVMI_LINKED_ID_MIN = 16
};

/* Whether a build that was noted is this one. Of pools of old: by the linker's id alone. */
bool nvmi_build_is(const uint8_t noted[NVMI_BUILD_ID], const uint8_t now[NVMI_BUILD_ID]);

/* The loader has changed what nobody else can write: it says nothing about the build. */
bool nvmi_is_relocated_text(const struct nvmi_module *module);

/* Fills in module->build from what is loaded; the linker's id is there, if it has one. */
void nvmi_build_sum(struct nvmi_module *module);
