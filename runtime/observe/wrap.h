/* wrap.h: a function in front of one of the C library's. See observe.h. */
#pragma once

#include <dlfcn.h>

/* One that the program itself defines is the program's. */
#define NVMI_INTERPOSE __attribute__((weak, visibility("default")))

/* The C library's function of that name. It is looked for when the program starts: the linker allocates,
 * and a signal handler may be the first that calls the function. */
#define FOUND(name)                                                                                \
  static __typeof__(name) *next_##name;                                                            \
  __attribute__((constructor)) static void find_##name(void) {                                     \
    next_##name = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                                     \
  }

/* It, also for a constructor that runs before that. */
#define NEXT(name) (next_##name ? next_##name : (find_##name(), next_##name))
