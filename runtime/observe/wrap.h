/* wrap.h: a function in front of one of the C library's. See observe.h. */
#pragma once

#include <dlfcn.h>

/* One that the program itself defines is the program's. */
#define NVMI_INTERPOSE __attribute__((weak, visibility("default")))

/* `function`, of the type of the one that is defined here. */
#define NEXT(function)                                                                             \
  ({                                                                                               \
    static __typeof__(function) *next;                                                             \
    __typeof__(function) *found = __atomic_load_n(&next, __ATOMIC_RELAXED);                        \
    if (!found) {                                                                                  \
      found = (__typeof__(function) *)dlsym(RTLD_NEXT, #function);                                 \
      __atomic_store_n(&next, found, __ATOMIC_RELAXED);                                            \
    }                                                                                              \
    found;                                                                                         \
  })
