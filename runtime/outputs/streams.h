/* streams.h: what waits in the buffers of stdio. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Bytes wait in its buffer that others will read. */
bool nvmi_output_waits(FILE *stream);
