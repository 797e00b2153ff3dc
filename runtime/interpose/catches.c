/* catches.c: the catch of a C++ exception in front of the C++ library's, as jumps.c; in programs that have one.
 *
 * In a program that is linked statically the linker wraps the name, and catches_wrapped.c stands behind.
 */
#define _GNU_SOURCE
#include "core/thread.h"
#include "tx/landed.h"

#include <dlfcn.h>
#include <unwind.h>

typedef void *catch_exception(void *exception);

#ifdef NVMI_WRAPPED
#define NAME(name) __wrap_##name
__attribute__((weak)) catch_exception __real___cxa_begin_catch;
static catch_exception *real(void) { return __real___cxa_begin_catch; }
#else
#define NAME(name) name
static catch_exception *real(void) {
  static catch_exception *_Atomic known;
  if (!known)
    known = (catch_exception *)dlsym(RTLD_NEXT, "__cxa_begin_catch");
  return known;
}
#endif

/* The end of a thread is none that lands (tx/landed.c). `stack`: of who catches. */
static void leave_for(const struct _Unwind_Exception *exception, uintptr_t stack) {
  struct nvmi_thread *thread = nvmi_self;
  if (NVMI_UNLIKELY(thread && thread->frames.count) && !exception->private_1)
    nvmi_tx_left_below(thread, stack);
}

#define CATCH(name)                                                                                \
  catch_exception NAME(name);                                                                      \
  void *NAME(name)(void *exception) {                                                              \
    leave_for(exception, (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *));              \
    return real()(exception);                                                                      \
  }
CATCH(__cxa_begin_catch)
