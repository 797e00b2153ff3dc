/* exported.h: what a module offers to others by name, its table of dynamic symbols.
 *
 * dlsym would say the same, with the loader's lock: a constructor that commits a pointer has that
 * lock, and waits for the table of static data, whose owner asks here.
 */
#pragma once

#include "symbols/modules.h"

/* How many, and the name of each; "": it is not defined there, or for old programs alone. The
 * module was read. */
static inline size_t nvmi_exported_count(const struct nvmi_module *module) {
  return module->exported.count;
}
const char *nvmi_exported_name(const struct nvmi_module *module, size_t index);

/* Whether the loader, not the linker, picks the function. */
bool nvmi_exported_is_picked(const struct nvmi_module *module, size_t index);

/* Where it lies in this process; of a function that is picked the one for this processor. Null: the
 * module is no longer loaded, or may not be ready: `is_known` says that the program uses it. */
const void *nvmi_exported_address(const struct nvmi_module *module, size_t index, bool is_known);

/* The program's stub for a function of others, whose address is the function's in all of the
 * process: where the program is not position-independent, and takes it. Null: none. */
const void *nvmi_exported_stub(const char *name);

/* The first of that name, of the modules that are called `in`, or of all but the program where that
 * is null. Null: none. */
const void *nvmi_exported_find(const char *name, const char *in);
