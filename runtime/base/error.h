/* error.h: failures: recorded for the caller, told to the user, or fatal.
 */
#pragma once

#include "nvmove/error.h"

/* What helps against damage. */
#define NVMI_REPAIR_HINT "try 'nvmove pool repair', or restore a copy"

/* The message: "CAUSE; HINT"; without "; HINT" that of the code. */
int nvmi_fail(enum nvm_error code, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int nvmi_fail_no_pool(void);
/* To standard error, as it is. */
void nvmi_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void nvmi_die(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Stops as nvmi_fatal does, with the failure that is recorded as the cause of `what`. */
_Noreturn void nvmi_fatal_recorded(const char *path, const char *what);
_Noreturn void nvmi_fatal(enum nvm_error code, const char *path, const char *cause);
/* core/thread.c: the handler of fatal failures may jump out of what this thread is doing. Null in a
 * program whose threads have nothing to do with pools. */
__attribute__((weak)) void nvmi_before_fatal_handler(void);
