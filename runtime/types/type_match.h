/* type_match.h: the layouts that a pool and a program have of one type. */
#pragma once

#include <stddef.h>

struct nvm_type;

/* In one line, what differs between the layouts that the pool and the program have of
 * a type. */
void nvmi_type_difference(const struct nvm_type *pools, const struct nvm_type *programs, char *line,
                          size_t size);
