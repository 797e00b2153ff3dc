/* settings.h: the environment variables whose names begin with NVMOVE_ (settings.def). An empty one
 * counts as not set.
 *
 * A wrong value or a misspelt name is an error, not silence: with NVMOVE_OPEN=cpy the file would be
 * written. A setting that was checked and then changed by the program to something else counts as
 * not set where it is a number.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Checks all of them. -1 and NVM_EARGUMENT, of `path`: one has a value that means nothing, or a
 * name that is nearly that of a setting. Another unknown name is told of on stderr, once. */
int nvmi_settings_check(const char *path);

/* What a port file says of settings: strings NAME=VALUE, then an empty one. Missing where no object had
 * such a file (plugin/porting/Port.cpp). */
extern const char __nvm_port_settings[] __attribute__((weak));

/* The value, valid until the environment changes; where the environment does not have the name, that
 * of the port file. Null: not set. */
const char *nvmi_setting(const char *name);
/* Whether the setting has that value. */
bool nvmi_setting_is(const char *name, const char *value);
/* False: the text is no number, decimal or 0x..., with at most one of `units` behind it (K, M, G: powers
 * of 1024), or 64 bits cannot hold it. */
bool nvmi_read_number(const char *text, const char *units, uint64_t *number);
/* Of a number, or of bytes with K, M or G behind; 0: not set. */
uint64_t nvmi_setting_number(const char *name);
