/* error.c: the last failure of each thread, and the two ways to stop.
 *
 * Messages have the form "PATH: cause; hint". A failure that brings no hint of its own gets that of
 * its code: there is always one. Expected failures are returned; a store that cannot be made
 * failure-atomic goes to the fatal handler; only a broken promise of our own ends the process here.
 */
#include "base/error.h"

#include "base/basics.h"
#include "base/uncancelled.h"

#include "nvmove/nvmove.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  CAUSE_MAX = 768,
  MESSAGE_MAX = PATH_MAX + CAUSE_MAX /* no path crowds out the cause */
};

static _Thread_local enum nvm_error last_code;
/* Made at the first failure, so that each thread's stack lends it 8 bytes. */
static _Thread_local char *last_message;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void (*_Atomic fatal_handler)(enum nvm_error, const char *);

static const char *const names[] = {
    [NVM_OK] = "no error",
    [NVM_ESYSTEM] = "a system call failed",
    [NVM_EARGUMENT] = "invalid argument",
    [NVM_EMISSING] = "there is no such file",
    [NVM_EEXISTS] = "the file exists",
    [NVM_EEMPTY] = "the file is empty",
    [NVM_ETRUNCATED] = "the file is truncated",
    [NVM_EFOREIGN] = "not a pool",
    [NVM_EVERSION] = "the pool has a newer format",
    [NVM_ECORRUPT] = "the pool is corrupt",
    [NVM_EREADONLY] = "the file cannot be written",
    [NVM_EBUSY] = "the pool is open elsewhere",
    [NVM_EADDRESS] = "the pool's addresses are taken",
    [NVM_ENOSPACE] = "the disk is full",
    [NVM_ENOMEMORY] = "no room left",
    [NVM_ETOOLARGE] = "larger than the pool can hold",
    [NVM_EPOINTER] = "not a block of a pool",
    [NVM_EDOUBLEFREE] = "the block is free already",
    [NVM_ENOTX] = "no transaction is open",
    [NVM_EABORTED] = "the transaction was aborted",
    [NVM_ECHILD] = "a forked child cannot change the pool",
    [NVM_EOPENTX] = "a transaction is open",
    [NVM_EBROKEN] = "built on a transaction that was undone",
    [NVM_EDEADLOCK] = "its commit and a transaction that it depends on waited for each other",
    [NVM_ESTATIC] = "static data that the pool points to is gone",
    [NVM_ELAYOUT] = "the program lays out a type otherwise than the pool",
    [NVM_EUNSAFE] = "an unsafe pointer",
    [NVM_ELIMIT] = "a limit was reached",
    [NVM_EMETHOD] = "a plain store to a pool whose method does not see it",
};

/* What to do, where nobody knows better. */
static const char *const hints[] = {
    [NVM_OK] = "",
    [NVM_ESYSTEM] = "look into the kernel's log (dmesg)",
    [NVM_EARGUMENT] = "the function's description says what it may be",
    [NVM_EMISSING] = "check the path",
    [NVM_EEXISTS] = "choose another path, or remove it first",
    [NVM_EEMPTY] = "remove it, and create the pool anew",
    [NVM_ETRUNCATED] = NVMI_REPAIR_HINT,
    [NVM_EFOREIGN] = "check the path",
    [NVM_EVERSION] = "update nvmove",
    [NVM_ECORRUPT] = NVMI_REPAIR_HINT,
    [NVM_EREADONLY] = "let this user write there (chmod, chown)",
    [NVM_EBUSY] = "wait until it is done, or end it",
    [NVM_EADDRESS] = "close other pools, or raise 'ulimit -v'",
    [NVM_ENOSPACE] = "free some space",
    [NVM_ENOMEMORY] = "free some memory, or raise 'ulimit -v'",
    [NVM_ETOOLARGE] = "ask for less, or make a larger pool ('nvmove pool convert --size')",
    [NVM_EPOINTER] = "pass what nvm_alloc gave, and no block's inside",
    [NVM_EDOUBLEFREE] = "free each block once",
    [NVM_ENOTX] = "call nvm_tx_begin first",
    [NVM_EABORTED] = "begin it again",
    [NVM_ECHILD] = "do it in the parent",
    [NVM_EOPENTX] = "commit or abort it first",
    [NVM_EUNSAFE] = "let it point into the pool, or mark the field (nvmove/marks.h)",
    [NVM_ELIMIT] = "stay below it, or use several pools",
    [NVM_EBROKEN] = "begin it again",
    [NVM_EDEADLOCK] = "release the locks that the thread holds, if any, then begin it again",
    [NVM_ELAYOUT] = "convert the pool ('nvmove pool convert')",
    [NVM_ESTATIC] = "open it with the program that wrote it",
    [NVM_EMETHOD] = "open it with NVMOVE_METHOD=shadow or NVMOVE_METHOD=undo",
};
static_assert(sizeof hints == sizeof names, "a hint for each code");

static void forget(void *message) {
  munmap(message, MESSAGE_MAX);
  last_message = NULL;
}
static void make_key(void) { pthread_key_create(&key, forget); }

static char *new_message(void) {
  pthread_once(&once, make_key);
  void *made = mmap(NULL, MESSAGE_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return NULL;
  pthread_setspecific(key, made);
  return made;
}

static const char *last_text(void) { return last_message ? last_message : names[last_code]; }

enum nvm_error nvm_errno(void) { return last_code; }

const char *nvm_strerror(void) { return last_code ? last_text() : names[NVM_OK]; }

const char *nvm_error_name(enum nvm_error code) {
  return (unsigned)code < sizeof names / sizeof *names ? names[code] : "unknown error";
}

int nvmi_fail(enum nvm_error code, const char *path, const char *format, ...) {
  char text[CAUSE_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  bool has_hint = strstr(strcmp(format, "%s") == 0 ? text : format, "; ");
  if (!last_message)
    last_message = new_message();
  if (last_message)
    snprintf(last_message, MESSAGE_MAX, "%s%s%s%s%s", path ? path : "", path ? ": " : "", text,
             has_hint ? "" : "; ", has_hint ? "" : hints[code]);
  last_code = code;
  return -1;
}

int nvmi_fail_no_pool(void) {
  return nvmi_fail(NVM_EARGUMENT, NULL,
                   "no pool was given; pass what nvm_pool_open or nvm_pool_create gave");
}

void nvmi_tell(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  NVMI_UNCANCELLED(vfprintf(stderr, format, arguments));
  va_end(arguments);
}

void nvmi_die(const char *path, const char *format, ...) {
  char text[CAUSE_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  nvmi_tell("nvmove: %s%s%s\n", path ? path : "", path ? ": " : "", text);
  abort();
}

void nvm_set_fatal_handler(void (*handler)(enum nvm_error, const char *)) {
  fatal_handler = handler;
}

void nvmi_fatal_recorded(const char *path, const char *what) {
  char cause[MESSAGE_MAX];
  const char *recorded = last_text(); /* also where there was no memory for a message */
  size_t length = path ? strlen(path) : 0;
  if (length && strncmp(recorded, path, length) == 0 && strncmp(recorded + length, ": ", 2) == 0)
    recorded += length + 2;
  snprintf(cause, sizeof cause, "%s: %s", what, recorded);
  nvmi_fatal(last_code, path, cause);
}

void nvmi_fatal(enum nvm_error code, const char *path, const char *cause) {
  nvmi_fail(code, path, "%s", cause);
  void (*handler)(enum nvm_error, const char *) = fatal_handler;
  if (handler && nvmi_before_fatal_handler)
    nvmi_before_fatal_handler();
  if (handler)
    handler(code, last_text());
  nvmi_die(path, "%s; the process stops, opening the pool undoes the open transaction", cause);
}
