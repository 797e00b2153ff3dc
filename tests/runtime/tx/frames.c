/* frames.c: whether a signal's handler runs is found by unwind tables, by the stack that it has for
 * itself, and by what the kernel put on the stack; what a handler left behind is none.
 */
#define _GNU_SOURCE
#include "base/signal_frame.h"
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

/* More frames than the unwinder is asked for. */
enum { DEEP = 400, HANDLERS_STACK = 64 << 10, LARGE = 600 << 10 };

/* No unwind tables: the unwinder ends there. */
extern bool call_without_tables(bool (*call)(void)) __asm__("call_without_tables");
__asm__(".pushsection .text\n"
        "call_without_tables:\n"
        "  push %rbp\n"
        "  mov %rsp, %rbp\n"
        "  call *%rdi\n"
        "  pop %rbp\n"
        "  ret\n"
        ".popsection\n");

static __attribute__((noinline)) bool looks(void) { return nvmi_in_signal_handler(); }
static __attribute__((noinline)) bool looks_without_tables(void) {
  return call_without_tables(looks);
}

static __attribute__((noinline)) bool look_below(unsigned depth) {
  volatile bool found = depth ? look_below(depth - 1) : nvmi_in_signal_handler();
  return found;
}
static __attribute__((noinline)) bool looks_deep_down(void) { return look_below(DEEP); }

/* Further from the frame where the unwinder ends than is searched. */
static __attribute__((noinline)) bool look_from_a_large_frame(void) {
  char room[LARGE];
  __asm__ volatile("" ::"r"(room) : "memory");
  bool found = nvmi_in_signal_handler();
  __asm__ volatile("" ::"r"(room) : "memory");
  return found;
}
static __attribute__((noinline)) bool looks_from_far_away(void) {
  return call_without_tables(look_from_a_large_frame);
}

static bool (*look_in_handler)(void);
static volatile int found;

static void on_signal(int number) {
  (void)number;
  found = look_in_handler();
}

static bool found_by(bool (*look)(void), int flags) {
  static char stack[HANDLERS_STACK];
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  CHECK(sigaltstack(&alternate, NULL) == 0);
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  look_in_handler = look;
  found = -1;
  CHECK(raise(SIGUSR1) == 0 && found >= 0);
  return found;
}

TEST_ONCE(frames_of_a_handler) {
  nvmi_signal_frame_prepare();
  CHECK(found_by(looks, 0));
  CHECK(found_by(looks_deep_down, 0));
  CHECK(found_by(looks_without_tables, 0));
  CHECK(found_by(looks_from_far_away, 0));
  CHECK(found_by(looks, SA_NODEFER)); /* by the tables alone */
  CHECK(found_by(looks_without_tables, SA_ONSTACK));
  CHECK(found_by(looks_without_tables, SA_ONSTACK | SA_NODEFER)); /* by its stack alone */
  CHECK(!looks());
}

static uintptr_t interrupted;
static __attribute__((noinline)) bool asks(void) {
  interrupted = nvmi_interrupted_stack();
  return interrupted != 0;
}
static __attribute__((noinline)) bool asks_without_tables(void) {
  return call_without_tables(asks);
}
static __attribute__((noinline)) bool ask_below(unsigned depth) {
  volatile bool known = depth ? ask_below(depth - 1) : asks();
  return known;
}
static __attribute__((noinline)) bool asks_deep_down(void) { return ask_below(DEEP); }

/* It lies in the C library's raise. */
static void check_interrupted(bool (*ask)(void), int flags) {
  enum { OF_RAISE = 4096 };
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  CHECK(found_by(ask, flags) && interrupted < here && here - interrupted < OF_RAISE);
}

TEST_ONCE(frames_that_a_handler_interrupted) {
  nvmi_signal_frame_prepare();
  check_interrupted(asks, 0);
  check_interrupted(asks, SA_ONSTACK);
  check_interrupted(asks_deep_down, 0);
  check_interrupted(asks_deep_down, SA_ONSTACK);
  check_interrupted(asks_without_tables, 0);
  check_interrupted(asks_without_tables, SA_ONSTACK);
  CHECK(!asks() && !asks_deep_down() && !asks_without_tables());
}

static void *look_in_thread(void *unused) {
  (void)unused;
  CHECK(!looks() && !looks_deep_down() && !looks_without_tables());
  return NULL;
}

TEST_ONCE(frames_of_no_handler) {
  pthread_t thread;
  nvmi_signal_frame_prepare();
  look_in_thread(NULL);
  CHECK(pthread_create(&thread, NULL, look_in_thread, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

/* Looks above frames that a handler has left. */
static __attribute__((noinline)) void look_above_what_was_left(bool (*look)(void)) {
  char left[16 << 10];
  __asm__ volatile("" ::"r"(left) : "memory");
  CHECK(!look());
  __asm__ volatile("" ::"r"(left) : "memory");
}

static __attribute__((noinline)) void be_interrupted_deep_down(void) {
  char room[8 << 10];
  memset(room, 1, sizeof room);
  __asm__ volatile("" ::"r"(room) : "memory");
  CHECK(found_by(looks, 0));
  __asm__ volatile("" ::"r"(room) : "memory");
}

TEST_ONCE(frames_that_a_handler_left) {
  nvmi_signal_frame_prepare();
  be_interrupted_deep_down();
  look_above_what_was_left(looks_deep_down);
  be_interrupted_deep_down();
  look_above_what_was_left(looks_without_tables);
}
