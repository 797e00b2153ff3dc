/* modules.h: the parts of the program and its shared objects that are mapped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By whoever makes a point, without the lock. */
struct nvmi_observe_part {
  const char *name; /* of its file; empty: the program */
  uintptr_t base, start, end;
  bool is_data;
};
#define NVMI_OBSERVE_PARTS_MAX 1024
void nvmi_observe_list_parts(void);
const struct nvmi_observe_part *nvmi_observe_parts(size_t *count);
