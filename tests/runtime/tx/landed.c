/* landed.c: what a jump, an exception and the end of a thread leave, where control lands (tx/landed.c). Jumps out of
 * signal handlers come while the thread says that it is at work, as between two steps of a note.
 */
#define _GNU_SOURCE
#include "tx/landed.h"
#include "core/root_hooks.h"
#include "core/thread.h"
#include "harness.h"
#include "store.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { STACK = 256 << 10 };

static NVM_POOL *pool;
static uint64_t *words;
static sigjmp_buf landing;

static void prepare(void) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0 && (words = nvm_calloc(pool, 0, 8, sizeof *words)));
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
}

/* What an atomic call stored is committed where it was left; nothing is open. */
static void check_and_close(void) {
  CHECK(!nvmi_self->frames.count && !nvmi_self->touched && !nvmi_self->busy);
  CHECK(!nvmi_self->jumped_to);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[0], 2);
  CHECK(nvm_tx_abort(pool) == 0 && words[0] == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

static uintptr_t stack; /* where the jump lands */

/* A sanitizer's siglongjmp may stand in place of the runtime's (interpose/jumps.c), which tells the same. */
static void jump(int number) {
  (void)number;
  nvmi_tx_left_below(nvmi_self, stack, (uintptr_t)__builtin_frame_address(0));
  CHECK(!nvmi_self->busy && !nvmi_self->frames.count);
  siglongjmp(landing, 1);
}

static __attribute__((noinline)) void be_interrupted_at_work(void) {
  __nvm_atomic_enter(__builtin_frame_address(0));
  STORE(words[0], 1);
  nvmi_self->busy = 1;
  CHECK(raise(SIGUSR1) == 0 && false);
}

static void be_left_by_a_handler(void) {
  signal(SIGUSR1, jump);
  stack = (uintptr_t)__builtin_frame_address(0);
  if (!sigsetjmp(landing, 1))
    be_interrupted_at_work();
}

/* A handler that has interrupted libnvmove jumps out of an atomic call: both are left at once. */
TEST(landed_out_of_libnvmove) {
  prepare();
  be_left_by_a_handler();
  check_and_close();
}

static ucontext_t here, there;

/* The same on another stack, where only the jump tells which frames it leaves. */
TEST(landed_out_of_libnvmove_on_another_stack) {
  static char room[STACK];
  prepare();
  CHECK(getcontext(&there) == 0);
  there.uc_stack = (stack_t){.ss_sp = room, .ss_size = sizeof room};
  there.uc_link = &here;
  makecontext(&there, be_left_by_a_handler, 0);
  CHECK(swapcontext(&here, &there) == 0);
  check_and_close();
}

static const char *heard;
static void hear(const void *frame) { heard = frame; }

static __attribute__((noinline)) void jump_up(const char **from) {
  *from = __builtin_frame_address(0);
  longjmp(landing, 1);
}

/* Else the sanitizer's longjmp is called. */
__attribute__((weak)) void __asan_init(void);
__attribute__((weak)) void __tsan_init(void);
static bool tells_of_jumps(void) { return !__asan_init && !__tsan_init; }

/* A load function may be left by a jump: the port asks at each landing, and at each jump. */
TEST(landed_out_of_a_load) {
  const char *volatile from, *frame = __builtin_frame_address(0);
  prepare();
  nvmi_port_landed = hear;
  __nvm_atomic_landed((void *)(uintptr_t)frame);
  CHECK(heard == frame);
  heard = NULL;
  if (!setjmp(landing))
    jump_up((const char **)(uintptr_t)&from);
  CHECK(!tells_of_jumps() || (heard > from && heard <= frame));
  nvmi_port_landed = NULL;
  CHECK(nvm_pool_close(pool) == 0);
}

/* Control comes to a frame above those of two atomic calls, one of which is that of `land`. */
static __attribute__((noinline)) void land_by(void (*land)(void *frame, void *exception),
                                              bool thread_ends) {
  struct _Unwind_Exception exception = {.private_1 = thread_ends};
  char *frame = __builtin_frame_address(0);
  __nvm_atomic_enter(frame);
  __nvm_atomic_enter(frame - 64);
  STORE(words[0], 1);
  land(frame, &exception);
}

static void land_at_an_end(void *frame, void *exception) {
  (void)exception;
  __nvm_atomic_unwound(frame);
}

static void check_ends(void (*land)(void *frame, void *exception), bool thread_ends) {
  prepare();
  land_by(land, thread_ends);
  CHECK(nvmi_self->frames.count == 2 && nvmi_self->unwound == 2 && nvmi_self->touched);
  __nvm_atomic_landed(__builtin_frame_address(0)); /* a handler that the end has called, say */
  CHECK(nvmi_self->frames.count == 2 && nvmi_self->touched);
  nvmi_self->unwound = 0;
  __nvm_atomic_landed(__builtin_frame_address(0));
  check_and_close();
  CHECK(unlink(test_path("pool")) == 0);
}

/* Where the thread ends what it has open stays open, whatever jumps its handlers make. */
TEST(landed_at_the_end_of_a_thread) {
  check_ends(land_at_an_end, false);
  check_ends(__nvm_atomic_thrown, true);
  check_ends(__nvm_atomic_passed, true);
}

/* An exception ends the calls below the frame where it is caught, and that of a frame which it passes. */
TEST(landed_by_an_exception) {
  prepare();
  land_by(__nvm_atomic_thrown, false);
  CHECK(nvmi_self->frames.count == 1 && nvmi_self->touched);
  __nvm_atomic_landed(__builtin_frame_address(0));
  CHECK(!nvmi_self->frames.count && !nvmi_self->touched);
  land_by(__nvm_atomic_passed, false);
  check_and_close();
}
