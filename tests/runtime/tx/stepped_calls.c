/* stepped_calls.c: a signal handler jumps out of a function that nobody instrumented, at each instruction of the
 * beginning of such a call, one after another (stepping.h). What was interrupted stays known.
 */
#include "core/thread.h"
#include "harness.h"
#include "stepping.h"
#include "store.h"
#include "tx/called.h"

enum { DEEP = 32 << 10 };

static NVM_POOL *pool;
static uint64_t *words;

/* As a jump that lands here. */
static void jump(int number) {
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  (void)number;
  nvmi_called_left(nvmi_self, frame, frame);
}

/* And calls another one, which ends. */
static void jump_and_call(int number) {
  jump(number);
  uint64_t known = __nvm_lines->called;
  __nvm_note_call(words + 8, sizeof *words);
  __nvm_lines->called = known;
}

/* The list has room, and the old entry in it a frame below that of a handler. */
static __attribute__((noinline)) void call_deep_down(void) {
  volatile char room[DEEP];
  room[0] = 0;
  nvmi_called_enter(nvmi_self, words + 16, 8, (const char *)room);
  __nvm_lines->called = room[0];
}

static void repeat(void (*handler)(int)) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0 && (words = nvm_calloc(pool, 0, 64, sizeof *words)));
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  signal(SIGUSR1, handler);
  for (unsigned round = 0;; round++) { /* the first one finds functions of libraries */
    CHECK(nvm_tx_begin(pool) == 0);
    call_deep_down();
    if (round)
      stop();
    __nvm_note_call(words, sizeof *words);
    if (round)
      stop();
    CHECK(__nvm_lines->called == 1);
    CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0); /* notes it anew */
    *(volatile uint64_t *)words = round;
    CHECK(nvm_tx_abort(pool) == 0 && words[0] == 0);
    __nvm_lines->called = 0;
  }
}

static void repeat_jumps(void) { repeat(jump); }
static void repeat_calls(void) { repeat(jump_and_call); }

static void run(void (*repeats)(void)) {
  if (test_is_delayed())
    test_skip("the thread that syncs is not traced, and would meet the breakpoints");
  CHECK(step_through(repeats, test_is_long() ? 3 : 1, 1, test_seed()) > 50);
}

TEST(stepped_calls_at_a_call) { run(repeat_jumps); }

TEST(stepped_calls_at_a_call_by_one_that_calls) { run(repeat_calls); }
