/* basics.h: failing, and memory of the runtime's own: what every file here needs. */
#pragma once

#include "base/error.h"
#include "base/likely.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
