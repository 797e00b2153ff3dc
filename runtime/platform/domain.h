/* domain.h: what a file can survive. */
#pragma once

#include "nvmove/info.h"

/* From the file, and from NVMOVE_DOMAIN (process, power). A domain that is forced is told of on
 * stderr. */
enum nvm_domain nvmi_domain_of(const char *path, int fd);
