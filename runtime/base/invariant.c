/* invariant.c: a sentence that does not hold ends the process. */
#include "base/invariant.h"

#include "base/error.h"

#include <stddef.h>

#ifndef NDEBUG
void nvmi_invariant(const char *fault, const char *file, int line) {
  if (fault)
    nvmi_die(NULL, "%s:%d: does not hold: %s", file, line, fault);
}
#endif
