/* methods.h: the methods that there are (core/method.h). */
#pragma once

#include "core/method.h"

extern const struct nvmi_method nvmi_undo, nvmi_shadow, nvmi_lat, nvmi_latb;
