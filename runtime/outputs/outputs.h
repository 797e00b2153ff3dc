/* outputs.h: functions of the C library through which something leaves the process, in front of the
 * library's own: which of the calls are outputs (trace/trace_outputs.h), of instrumented code and of code
 * that nothing instruments.
 *
 * An archive of its own (libnvmove_outputs.a), with which programs are linked that are built with
 * --nvmove-trace, and no others. The functions are weak: one that the program itself defines is the
 * program's, and is not seen.
 *
 * What they do not see: stdio's writes, which the C library makes by itself; system calls by
 * instruction; stores to shared memory; a static program; who reads a pipe or a socket, which may
 * be the process itself; a file without a name that another process has open.
 */
#pragma once

#include "outputs/unwind.h"
#include "trace/trace_outputs.h"

#include <dlfcn.h>
#include <stdio.h>

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

#define BEGIN(made)                                                                                \
  struct nvmi_output made;                                                                         \
  nvmi_output_begin(&made, __builtin_frame_address(0))

/* `is_output`: of its `result`. */
#define OUTPUT(type, name, parameters, arguments, is_output, descriptor)                           \
  NVMI_INTERPOSE type name parameters {                                                            \
    BEGIN(made);                                                                                   \
    type result = NEXT(name) arguments;                                                            \
    if (is_output)                                                                                 \
      nvmi_output_end(&made, descriptor, NVMI_ANY_OFFSET, 0);                                      \
    return result;                                                                                 \
  }
