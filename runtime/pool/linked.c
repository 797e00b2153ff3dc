/* linked.c: what every program has that is linked with the runtime.
 *
 * Libraries that a program loads later call the one runtime of the process, which is the program's:
 * also what the program itself does not refer to. An archive gives only files that somebody refers
 * to. So the linker is asked for the name here (-u __nvmi_locks), and this file refers to the rest.
 * Where another library has the lock functions before this archive is looked at (-lc, a sanitizer),
 * nothing else would fetch them.
 */
#include "interpose/interpose.h"
#include "interpose/jumps.h"
#include "interpose/locks.h"

#include "nvmove/abi.h"
#include "nvmove/nvmove.h"

const char __nvmi_locks = 1;

/* What the writes of a library call (tx/sites.c). */
extern const char NVM_ABI_VERSION_SYMBOL;
__attribute__((used)) static const char *const linked[] = {
    &nvmi_locks_linked, &nvmi_interposed, &nvmi_jumps_linked, &NVM_ABI_VERSION_SYMBOL};
__attribute__((used)) static const void *const pools = (const void *)nvm_pool_open;
