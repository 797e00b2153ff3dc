/* owners.h: the rooms that own runs of chunks (heap/run_owner.h). */
#pragma once

#include "heap/run_owner.h"

extern const struct nvmi_run_owner *const nvmi_run_owners[]; /* null at the end */
