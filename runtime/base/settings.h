/* settings.h: the environment variables with which a user turns libnvmove's behaviour
 * (docs/semantics.md, "Settings"): whether their values make sense. Those that are numbers of bytes
 * are read where they are used.
 */
#pragma once

#include <stdbool.h>

/* -1 and NVM_EARGUMENT, of `path`, when a setting has a value that means nothing. An empty one
 * counts as not set. */
int nvmi_settings_check(const char *path);

/* Whether the setting has that value. */
bool nvmi_setting_is(const char *name, const char *value);
