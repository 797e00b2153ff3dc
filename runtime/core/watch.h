/* watch.h: what is counted while a tool watches the process (include/nvmove/watch.h). Off, it costs what nvmi_slow
 * costs: one predictable branch, in ways that are slow anyhow.
 *
 * Signal handlers may count, too.
 */
#pragma once

#include "base/basics.h"
#include "core/gate.h"

#include "nvmove/watch.h"

#include <stddef.h>

#define nvmi_watched (nvmi_slow.watched) /* at this moment */

/* The place in the program for which the thread notes, where the caller is not that place; null: it is. */
extern _Thread_local const void *nvmi_watched_place __attribute__((tls_model("initial-exec")));
static inline void nvmi_watch_place(const void *code) {
  bool is_left = nvmi_watched_place != NULL; /* since it was set the tool may have gone */
  if (NVMI_UNLIKELY(nvmi_watched || is_left))
    nvmi_watched_place = nvmi_watched ? code : NULL;
}

/* What compiled code calls for a write (tx/sites.c), and the words between the frame address of what it calls itself
 * and the address in the program to which it returns: a frame pointer, an address, and what it has kept. */
extern const char __start_nvm_sites[] __attribute__((weak, visibility("hidden")));
extern const char __stop_nvm_sites[] __attribute__((weak, visibility("hidden")));
enum { NVMI_SITE_WORDS = 7 };

/* The program's code behind a note, in the function that has these. */
static inline const void *nvmi_watch_code(const void *return_address, const void *frame) {
  const char *code = return_address;
  bool is_site = code >= __start_nvm_sites && code < __stop_nvm_sites;
  return is_site ? ((const void *const *)frame)[NVMI_SITE_WORDS] : code;
}

/* A store of so many bytes is announced, by the code in front of `code`. */
void nvmi_watch_store(const void *code, size_t size);
void nvmi_watch_load(size_t size);
/* A transaction begins inside of so many others. */
void nvmi_watch_begin(uint64_t depth);
