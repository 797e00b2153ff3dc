/* owners.c: see owners.h. */
#include "pool/owners.h"

#include "gc/counts.h"
#include "symbols/statics.h"
#include "types/types.h"

const struct nvmi_run_owner *const nvmi_run_owners[] = {&nvmi_types_owner, &nvmi_statics_owner,
                                                        &nvmi_counts_owner, NULL};
