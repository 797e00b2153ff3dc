/* captured.c: see captured.h. */
#include "core/captured.h"

#include <stdatomic.h>

uint64_t nvmi_capture_number(void) {
  static _Atomic uint64_t sequence;
  return atomic_fetch_add(&sequence, 1);
}
