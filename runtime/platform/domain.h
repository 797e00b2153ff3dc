/* domain.h: what a file can survive. */
#pragma once

#include "nvmove/info.h"

#include <stdbool.h>
#include <stdint.h>

/* "process", "power", "disk". */
const char *nvmi_domain_name(uint32_t domain);
/* Whether what is written survives the end of the machine: it is flushed and fenced. */
static inline bool nvmi_domain_flushes(uint32_t domain) { return domain != NVM_DOMAIN_PROCESS; }

/* From the file: power where it maps so, process in memory, else disk; NVMOVE_DOMAIN (process, power, disk) and PMEM2_FORCE_GRANULARITY. A domain that is forced is told of on
 * stderr. */
enum nvm_domain nvmi_domain_of(const char *path, int fd);
