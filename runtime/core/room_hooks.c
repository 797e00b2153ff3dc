/* room_hooks.c: what rooms above core have registered; null: nothing. */
#include "core/root_hooks.h"
#include "core/tracing.h"

const struct nvmi_root_hooks *nvmi_root_hooks;
void (*_Atomic nvmi_port_unloaded)(void);
void (*_Atomic nvmi_port_landed)(const void *);
const struct nvmi_trace_table *nvmi_trace_table;
