/* domain.h: what a file can survive. */
#pragma once

#include "nvmove/info.h"

/* From the file, NVMOVE_DOMAIN (process, power) and PMEM2_FORCE_GRANULARITY. A domain that is forced is told of on
 * stderr. */
enum nvm_domain nvmi_domain_of(const char *path, int fd);
