/* called.c: what functions that nobody instrumented may write stays noted as long as they run, and no
 * longer.
 */
#define _GNU_SOURCE
#include "tx/called.h"
#include "core/lines.h"
#include "harness.h"
#include "log/log.h"
#include "pool/close_logs.h"
#include "pool/pool.h"
#include "store.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { WORDS = 64, STACK = 256 << 10 };

static NVM_POOL *pool;
static uint64_t *words;

static void begin(void) { CHECK(nvm_tx_begin(pool) == 0); }
static void commit(void) { CHECK(nvm_tx_commit(pool) == 0); }

static void prepare(void) {
  pool = test_create(test_path("pool"), 2 << 20);
  begin();
  words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0);
  commit();
}

static void finish(void) {
  __nvm_lines->called = 0;
  CHECK(nvm_pool_close(pool) == 0);
}

static __attribute__((noinline)) void call(uint64_t *address) {
  __nvm_note_call(address, sizeof *address);
}

/* As code that nobody instrumented stores. */
static void store_unseen(uint64_t *to, uint64_t value) { *(volatile uint64_t *)to = value; }

TEST(called_lists_what_lies_in_a_pool) {
  uint64_t local = 0;
  prepare();
  __nvm_note_call(&local, sizeof local);
  __nvm_note_call(words, 0);
  CHECK(__nvm_lines->called == 0);
  call(words);
  CHECK(__nvm_lines->called == 1);
  finish();
}

/* A transaction that ends inside the call, and the next one: both undo what the call writes. */
TEST(called_is_noted_for_each_transaction) {
  prepare();
  begin();
  call(words);
  store_unseen(words, 1);
  commit();
  begin();
  store_unseen(words, 2);
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(words[0] == 1);
  finish();
}

static uint64_t *inner;
static void *landing; /* a frame between those of the two calls */

static __attribute__((noinline)) void call_deeper(unsigned depth) {
  volatile char room[512];
  room[0] = (char)depth;
  if (depth == 4)
    landing = __builtin_frame_address(0);
  if (depth)
    call_deeper(depth - 1);
  else
    call(inner);
  room[1] = room[0];
}

/* A library's function enlarges its buffer, as getline does, and writes there. Where the block has room
 * for that, it stays. */
TEST(called_buffer_is_noted_when_it_grows) {
  enum { SMALL = 100, AT = 5 };
  prepare();
  begin();
  uint64_t *buffer = nvm_alloc(pool, 0, SMALL);
  CHECK(buffer);
  STORE(words[0], (uint64_t)buffer);
  commit();
  begin();
  call(buffer);
  CHECK(nvm_realloc(pool, buffer, nvm_usable_size(buffer)) == buffer);
  store_unseen(&buffer[AT], 1);
  commit();
  const char *in_file = pool->home + ((char *)&buffer[AT] - pool->work);
  CHECK(*(const uint64_t *)in_file == 1);
  finish();
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  CHECK(((uint64_t *)words[0])[AT] == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

/* It goes on in a larger one, in the next transaction, too; another function has its own still. */
TEST(called_moves_with_its_buffer) {
  enum { SMALL = 100, LARGE = 5000, AT = 512 };
  prepare();
  begin();
  uint64_t *buffer = nvm_alloc(pool, 0, SMALL), *other = nvm_alloc(pool, 0, SMALL);
  CHECK(buffer && other);
  STORE(words[1], (uint64_t)other);
  commit();
  begin();
  call(other);
  call(buffer);
  uint64_t *larger = nvm_realloc(pool, buffer, LARGE);
  CHECK(larger && larger != buffer);
  STORE(words[0], (uint64_t)larger);
  store_unseen(&larger[AT], 1);
  commit();
  begin();
  store_unseen(&larger[AT], 2);
  store_unseen(other, 2);
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(larger[AT] == 1);
  begin();
  store_unseen(&larger[AT + 1], 3);
  store_unseen(other, 3);
  commit();
  finish();
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  larger = (uint64_t *)words[0], other = (uint64_t *)words[1];
  CHECK(larger[AT] == 1 && larger[AT + 1] == 3 && *other == 3);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Of calls one within the other a jump ends those below the frame in which it lands. */
TEST(called_ends_below_the_frame_of_a_landing) {
  prepare();
  begin();
  call(words);
  inner = words + 8;
  call_deeper(8);
  CHECK(__nvm_lines->called == 2);
  nvmi_called_left(nvmi_self, (uintptr_t)landing, 0);
  CHECK(__nvm_lines->called == 1);
  commit();
  begin();
  store_unseen(words, 3);
  CHECK(nvm_tx_abort(pool) == 0 && words[0] == 0);
  finish();
}

static ucontext_t here, there;

static void call_there(void) {
  call(words);
  swapcontext(&there, &here);
}

/* A call on another stack has a frame that says nothing about those of this one. */
TEST(called_goes_on_on_another_stack) {
  static char stack[STACK];
  prepare();
  begin();
  CHECK(getcontext(&there) == 0);
  there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  there.uc_link = &here;
  makecontext(&there, call_there, 0);
  CHECK(swapcontext(&here, &there) == 0);
  nvmi_called_left(nvmi_self, (uintptr_t)__builtin_frame_address(0) + 1, 0);
  CHECK(__nvm_lines->called == 1);
  commit();
  begin();
  store_unseen(words, 4);
  CHECK(nvm_tx_abort(pool) == 0 && words[0] == 0);
  finish();
}

/* An exception caught there has left the calls below it, and those only. */
static void catch_there(void) {
  void *frame = __builtin_frame_address(0);
  nvmi_called_enter(nvmi_self, words + 16, 8, (char *)frame + 64);
  inner = words + 8;
  call_deeper(2);
  call_deeper(2);
  CHECK(__nvm_lines->called == 4);
  nvmi_called_left(nvmi_self, (uintptr_t)frame, 0);
  CHECK(__nvm_lines->called == 2);
  swapcontext(&there, &here);
}

TEST(called_ends_by_an_exception_on_another_stack) {
  static char stack[STACK];
  prepare();
  begin();
  call(words);
  CHECK(getcontext(&there) == 0);
  there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  there.uc_link = &here;
  makecontext(&there, catch_there, 0);
  CHECK(swapcontext(&here, &there) == 0);
  commit();
  finish();
}

static uintptr_t below; /* the handler's frame */

static void look_from_a_handler(int number) {
  (void)number;
  below = (uintptr_t)__builtin_frame_address(0);
  CHECK(nvmi_is_left(below, (uintptr_t)landing, 0));
}

/* A handler's own stack is left by a jump to any other, wherever that lies. */
TEST(called_ends_on_the_stack_of_a_handler) {
  static char stack[STACK];
  const struct sigaction action = {.sa_handler = look_from_a_handler, .sa_flags = SA_ONSTACK};
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  landing = __builtin_frame_address(0);
  CHECK(sigaltstack(&own, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
  CHECK(raise(SIGUSR1) == 0 && below - (uintptr_t)stack < sizeof stack);
}

static void look_without_files(void *unused) {
  const struct rlimit none = {0, 0};
  (void)unused;
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  errno = 0;
  nvmi_is_on_own_stack((uintptr_t)__builtin_frame_address(0));
  CHECK(errno == 0);
}

/* Who asks where the main thread's stack lies reads a file. The program's errno is not touched. */
TEST_ONCE(called_keeps_errno) { CHECK(test_child(NULL, look_without_files, NULL) == 0); }

static void *look_at_own_stack(void *unused) {
  CHECK(!nvmi_is_elsewhere((uintptr_t)__builtin_frame_address(0)));
  return unused;
}

/* A thread that asks where its stack lies keeps nothing of the answer when it ends. */
TEST_ONCE(called_leaves_nothing_of_a_thread) {
  enum { THREADS = 400, EARLY = 20, LEFT_MAX = 8 << 10 };
  size_t before = 0;
  for (unsigned i = 0; i < THREADS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, look_at_own_stack, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    if (i == EARLY)
      before = mallinfo2().uordblks;
  }
  CHECK(mallinfo2().uordblks < before + LEFT_MAX);
}

static void call_without_memory(void *unused) {
  struct rlimit none = {0, 0};
  (void)unused;
  prepare();
  begin();
  STORE(words[0], 1);
  CHECK(setrlimit(RLIMIT_AS, &none) == 0);
  call(words);
}

TEST(called_without_memory_ends_the_process) {
  char said[1000];
  int status = test_child_says(call_without_memory, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
        strstr(said, "out of memory for what"));
}

/* What may lie in a pool is noted where it does. */
TEST(called_with_what_may_be_persistent) {
  uint64_t local = 1;
  prepare();
  begin();
  __nvm_note_if_persistent(words, sizeof *words);
  __nvm_note_if_persistent(&local, sizeof local);
  store_unseen(words, 7);
  store_unseen(&local, 7);
  CHECK(nvm_tx_abort(pool) == 0 && words[0] == 0 && local == 7);
  finish();
}

/* A lock that is released in the call hands on what was written: what is written from there on is noted
 * anew. */
TEST(called_is_noted_behind_a_release) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  prepare();
  begin();
  pthread_mutex_lock(&lock);
  call(words);
  store_unseen(words, 1);
  pthread_mutex_unlock(&lock);
  store_unseen(words, 2);
  __nvm_lines->called = 0; /* it returns */
  commit();
  finish();
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  CHECK(words[0] == 2);
  finish();
}
