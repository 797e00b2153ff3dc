/* jumps.c: longjmp and its kin, and the ends of a thread, in front of the C library's.
 *
 * An atomic function may be left by a jump. Code that nvmove-cc has compiled says where it lands (tx/landed.c). Other
 * code does not, such as an interpreter's or a library's that calls functions of the program: so atomic calls whose
 * frames will be gone end here, where the stack pointer behind the jump is known. So do calls of functions that nobody
 * instrumented (tx/called.c).
 *
 * In a program that is linked statically the linker wraps the names, and jumps_wrapped.c stands behind.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* with it <setjmp.h> has one name for several of them */
#include "interpose/jumps.h"

#include "core/root_hooks.h"
#include "core/thread.h"
#include "tx/called.h"
#include "tx/landed.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>

typedef void jump(struct __jmp_buf_tag *env, int value);

#ifdef NVMI_WRAPPED
#define NAME(name) __wrap_##name
#define OR_ITS_OWN
#define REAL(name) extern __attribute__((weak, noreturn)) jump __real_##name;
#define THE_REAL(name) __real_##name
#else
#define NAME(name) name
#define OR_ITS_OWN weak /* of a program that defines this name, as one with coroutines may */
#define REAL(name)                                                                                 \
  extern __attribute__((weak, noreturn)) jump __interceptor_##name; /* of a sanitizer */           \
  static jump *real_##name(void) {                                                                 \
    static jump *_Atomic real;                                                                     \
    jump *known = real;                                                                            \
    if (!known)                                                                                    \
      real = known =                                                                               \
          __interceptor_##name ? __interceptor_##name : (jump *)dlsym(RTLD_NEXT, #name);           \
    return known;                                                                                  \
  }                                                                                                \
  __attribute__((constructor)) static void find_##name(void) { real_##name(); }
#define THE_REAL(name) real_##name()
#endif

/* Where the stack pointer will be: glibc for x86-64 keeps it in the buffer, with its guard of pointers. */
static uintptr_t stack_of(const struct __jmp_buf_tag *env) {
  enum { STACK_POINTER = 6, ROTATED = 17, POINTER_GUARD = 6 /* word of the thread's block */ };
  uintptr_t kept = (uintptr_t)env->__jmpbuf[STACK_POINTER];
  uintptr_t guard = ((const uintptr_t *)__builtin_thread_pointer())[POINTER_GUARD];
  return (kept >> ROTATED | kept << (64 - ROTATED)) ^ guard;
}

/* A handler on a stack of its own has interrupted another one, and nobody knows where. */
static uintptr_t stack_here(uintptr_t stack) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return nvmi_is_on_signal_stack(here) && !nvmi_is_on_signal_stack(stack) ? 1 : here;
}

/* Calls end before the atomic ones that they are in: a commit notes anew what calls may write that go on. */
static void leave_for(const struct __jmp_buf_tag *env) {
  struct nvmi_thread *thread = nvmi_self;
  uintptr_t stack = stack_of(env);
  if (NVMI_UNLIKELY(thread && thread->table->called)) /* out of qsort, say */
    nvmi_called_left(thread, stack, stack_here(stack));
  if (NVMI_UNLIKELY(thread && (thread->frames.count || thread->busy)))
    nvmi_tx_left_below(thread, stack, stack_here(stack));
  if (NVMI_UNLIKELY(thread && nvmi_port_landed)) /* out of a load function, say */
    nvmi_port_landed((const void *)stack);
}

#define JUMP(name)                                                                                 \
  REAL(name)                                                                                       \
  __attribute__((noreturn, OR_ITS_OWN)) void NAME(name)(struct __jmp_buf_tag * env, int value) {   \
    leave_for(env);                                                                                \
    THE_REAL(name)(env, value);                                                                    \
    __builtin_unreachable();                                                                       \
  }

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

#ifdef NVMI_WRAPPED
#define REAL_END(name, type) extern __attribute__((weak, noreturn)) void __real_##name(type);
#define THE_REAL_END(name, type) __real_##name
#else
#define REAL_END(name, type)
#define THE_REAL_END(name, type) ((void (*)(type))dlsym(RTLD_NEXT, #name))
#endif

/* From here on handlers and destructors of the program run, and what they leave by a jump is no atomic call. */
#define END(name, type)                                                                            \
  REAL_END(name, type)                                                                             \
  __attribute__((noreturn, OR_ITS_OWN)) void NAME(name)(type result) {                             \
    if (nvmi_self)                                                                                 \
      nvmi_self->unwound = nvmi_self->frames.count, nvmi_self->table->called = 0;                  \
    THE_REAL_END(name, type)(result);                                                              \
    __builtin_unreachable();                                                                       \
  }
END(pthread_exit, void *)
END(thrd_exit, int)

#ifndef NVMI_WRAPPED
const char nvmi_jumps_linked = 1;
#endif
