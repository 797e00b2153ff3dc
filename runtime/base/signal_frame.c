/* signal_frame.c: see signal_frame.h. The unwinder knows the frame that the kernel made: what it
 * interrupted goes on at the instruction itself, not behind a call. It is glibc's helper for
 * backtraces, loaded as glibc loads it: a C program need not be linked with it.
 *
 * Where code has no tables, or the path is long, the unwinder stops on the way. Then the rest of
 * the stack is searched for what the kernel put above a handler: the address that its handlers
 * return to, the C library's or a sanitizer's, and behind it registers whose stack pointer leads on
 * from there. What a handler left behind that has returned looks the same, but for the signals that
 * were blocked before: they are blocked again. A handler blocks one more at least, its own, unless
 * it was installed with SA_NODEFER: such a one is not found where code has no tables.
 */
#define _GNU_SOURCE
#include "base/signal_frame.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum {
  FRAMES_MAX = 128,
  RETURNS_MAX = 4,
  SEARCHED_BYTES = 256 << 10,
  FRAME_BYTES_MAX =
      64 << 10 /* that the kernel puts on the stack, registers of all widths included */
};

/* As the system call has it, not the C library. */
struct action {
  void *handler;
  unsigned long flags;
  void *restorer;
  uint64_t mask;
};

static __typeof__(_Unwind_Backtrace) *backtrace;
static __typeof__(_Unwind_GetIPInfo) *place;
static __typeof__(_Unwind_GetCFA) *frame_of;

struct search {
  unsigned frames;
  bool found;
  uintptr_t at, top; /* code and stack of the frame that was seen last; no code: behind the first */
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument) {
  struct search *search = argument;
  int is_interrupted = 0;
  search->at = place(context, &is_interrupted);
  search->top = frame_of(context);
  search->found = is_interrupted;
  return search->found || ++search->frames == FRAMES_MAX ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* What the unwinder does once is done here: a handler that jumps out of that would leave it undone for ever. */
void nvmi_signal_frame_prepare(void) {
  void *library = dlopen("libgcc_s.so.1", RTLD_NOW);
  frame_of = (__typeof__(frame_of))dlsym(library, "_Unwind_GetCFA");
  place = (__typeof__(place))dlsym(library, "_Unwind_GetIPInfo");
  backtrace = (__typeof__(backtrace))dlsym(library, "_Unwind_Backtrace");
  struct search search = {0};
  if (backtrace && place && frame_of)
    backtrace(look, &search);
}

/* The first handler of these signals; null: there is none. */
static struct action handler_of(uint64_t signals) {
  for (int number = 1; number < 65; number++) {
    struct action action = {0};
    if (signals >> (number - 1) & 1 &&
        syscall(SYS_rt_sigaction, number, NULL, &action, sizeof action.mask) == 0 &&
        (uintptr_t)action.handler > 1)
      return action;
  }
  return (struct action){0};
}

/* By a system call: what is not mapped ends it. */
static size_t copy_stack(uintptr_t from, void *to, size_t size) {
  struct iovec own = {to, size}, there = {(void *)from, size};
  long got = syscall(SYS_process_vm_readv, getpid(), &own, 1ul, &there, 1ul, 0ul);
  return got > 0 ? (size_t)got : 0;
}

/* The stack pointer in registers that the kernel may have put there; 0: it has not. That of a handler with a stack of
 * its own may lead anywhere. */
static uintptr_t leads_to(uintptr_t at, bool is_alternate) {
  uintptr_t stack, context = at + sizeof(void *);
  uintptr_t place_of_it = context + offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]);
  if (copy_stack(place_of_it, &stack, sizeof stack) != sizeof stack)
    return 0;
  return is_alternate || (stack > at && stack - at < FRAME_BYTES_MAX) ? stack : 0;
}

/* Whether more signals are blocked now than when the handler of this frame was called, one of them
 * with a handler. */
static bool blocks_more(uintptr_t at) {
  uint64_t now = 0, before = 0;
  uintptr_t context = at + sizeof(void *);
  return syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof now) == 0 &&
         copy_stack(context + offsetof(ucontext_t, uc_sigmask), &before, sizeof before) ==
             sizeof before &&
         !(before & ~now) && handler_of(now & ~before).handler;
}

/* Where handlers return to. */
struct returns {
  unsigned count;
  const void *to[RETURNS_MAX];
};

static bool has(const struct returns *returns, const void *word) {
  for (unsigned i = 0; i < returns->count; i++)
    if (returns->to[i] == word)
      return true;
  return false;
}

static struct returns returns_of_handlers(void) {
  struct returns found = {0};
  for (int number = 0; number < 64 && found.count < RETURNS_MAX; number++) {
    const void *to = handler_of(UINT64_C(1) << number).restorer;
    if (to && !has(&found, to))
      found.to[found.count++] = to;
  }
  return found;
}

static bool is_on_alternate_stack(void) {
  stack_t stack;
  return sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
}

/* What the handler has interrupted that is found from there on; 0: none is. */
static uintptr_t interrupted_above(uintptr_t from) {
  bool is_alternate = is_on_alternate_stack();
  const struct returns returns = returns_of_handlers();
  const void *words[512];
  size_t got = sizeof words;
  for (uintptr_t at = from; returns.count && got == sizeof words && at < from + SEARCHED_BYTES;
       at += got) {
    got = copy_stack(at, words, sizeof words);
    for (size_t i = 0; i < got / sizeof *words; i++) {
      uintptr_t place_there = at + i * sizeof *words;
      uintptr_t stack = has(&returns, words[i]) ? leads_to(place_there, is_alternate) : 0;
      if (stack && blocks_more(place_there))
        return stack;
    }
  }
  return 0;
}

bool nvmi_in_signal_handler(void) {
  struct search search = {.top = (uintptr_t)__builtin_frame_address(0)};
  if (backtrace && place && frame_of)
    backtrace(look, &search);
  if (is_on_alternate_stack())
    return true;
  if (search.found || (search.frames && !search.at))
    return search.found;
  return interrupted_above(search.top) != 0;
}

uintptr_t nvmi_interrupted_stack(void) {
  struct search search = {.top = (uintptr_t)__builtin_frame_address(0)};
  if (backtrace && place && frame_of)
    backtrace(look, &search);
  if (search.found || (search.frames && !search.at))
    return search.found ? search.top : 0;
  return interrupted_above(search.top);
}
