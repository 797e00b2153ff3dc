/* check_words.h: the pointers of a pool, looked at. */
#pragma once

#include <stdbool.h>

struct nvmi_repair;
/* As nvm_pool_verify_pointers; `mend`: marks spans; with `null` stores null in place
 * of what is wrong, too. */
long long nvmi_mend_pointers(struct nvmi_repair *repair, bool null);
