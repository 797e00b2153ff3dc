/* wrap_calls.c: the calls of nvmove/wrap.h themselves (tx/wrap.c): what they wait for, what they count and
 * trace, and what they do where a handler has interrupted the runtime, or has left it by a jump.
 */
#include "core/gate.h"
#include "core/pool.h"
#include "core/thread.h"
#include "core/tracing.h"
#include "harness.h"
#include "hooks.h"
#include "tx/wrap.h"

#include "nvmove/wrap.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 100, FAR = 50, SECONDS = 5 };

static NVM_POOL *pool;
static uint64_t *words;

static void make(void) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_wrap_open(pool) == 0);
  words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_wrap_close(pool) == 0);
}

static void make_with(const char *method) {
  setenv("NVMOVE_METHOD", method, 1);
  make();
}

static void begin(void) { CHECK(nvm_wrap_open(pool) == 0); }
static void commit(void) { CHECK(nvm_wrap_close(pool) == 0); }
static void finish(void) { CHECK(nvm_pool_close(pool) == 0); }

static unsigned yields;
static uint64_t seen;

/* As who has shut the gate, or has stopped all: it is done. */
static void go_on(void) {
  yields++;
  seen = *(volatile uint64_t *)words;
  nvmi_gate_open(&pool->gate, NVMI_GATE_DRAM_LIMIT);
  nvmi_slow.stopped = false;
}

static void shut(void) {
  alarm(SECONDS);
  yields = 0;
  hook_yield = go_on;
  nvmi_gate_shut(&pool->gate, NVMI_GATE_DRAM_LIMIT);
}

static void expect_yields(unsigned count) {
  hook_yield = NULL;
  alarm(0);
  CHECK(yields == count);
}

/* A store waits while the pool's gate is shut, or all stand still. */
TEST_WRAPPED(wrap_calls_wait_at_the_gate) {
  make();
  begin();
  nvm_wrap_store64(words, 1);
  shut();
  nvm_wrap_store64(&words[FAR], 2);
  expect_yields(1);
  shut();
  nvmi_gate_open(&pool->gate, NVMI_GATE_DRAM_LIMIT);
  nvmi_slow.stopped = true;
  nvm_wrap_store64(&words[FAR + 8], 2);
  expect_yields(1);
  commit();
  finish();
}

/* New values go in place when the gate is open, not before. */
TEST_ONCE(wrap_calls_flush_behind_the_gate) {
  make_with("latb");
  begin();
  nvm_wrap_store64(words, 1);
  shut();
  commit();
  expect_yields(1);
  CHECK(seen == 0 && words[0] == 1);
  finish();
}

/* Who has stored nothing has nothing to hand over, and waits for nobody. */
TEST_ONCE(wrap_calls_of_nothing_do_not_wait) {
  make_with("latb");
  begin();
  nvm_wrap_store64(words, 1);
  commit();
  CHECK(nvmi_self->aliases && !nvmi_self->touched);
  shut();
  nvmi_slow.stopped = true;
  nvmi_wrap_before_release(nvmi_self);
  expect_yields(0);
  go_on();
  finish();
}

static uint64_t notes(void) {
  struct nvm_stats now;
  nvm_pool_stats(pool, &now);
  return now.notes;
}

/* Each store is counted; one of no bytes is none. */
TEST_ONCE(wrap_calls_count_stores) {
  static const char *const methods[] = {"lat", "latb"};
  for (unsigned i = 0; i < 2; i++) {
    make_with(methods[i]);
    uint64_t before = notes();
    nvm_wrap_write(words, &before, 0);
    CHECK(notes() == before && !nvmi_self->touched);
    begin();
    nvm_wrap_store64(words, 1);
    CHECK(notes() == before + 1);
    nvm_wrap_write(&words[FAR], &before, 3);
    CHECK(notes() == before + 2);
    commit();
    finish();
    CHECK(remove(test_path("pool")) == 0);
  }
}

static unsigned noted, stores;
static void event(const struct nvm_pool *of, enum nvm_trace_kind kind, uint64_t place,
                  uint64_t size) {
  noted += kind == NVM_TRACE_NOTE && of == pool && size == sizeof(uint64_t) &&
           place == (uint64_t)(uintptr_t)words - pool->header.base;
}
static void alone(enum nvm_trace_kind kind, uint64_t extra) { (void)kind, (void)extra; }
static void stored(void *address, const void *bytes, size_t size, bool by_program) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  stores += by_program && address == words && size == sizeof value && value == 7;
}
static const struct nvmi_trace_table table = {.event = event, .alone = alone, .stored = stored};

/* A trace has the note of a store, and its bytes, wherever they are. */
TEST_WRAPPED(wrap_calls_are_traced) {
  make();
  begin();
  nvm_wrap_store64(&words[FAR], 1);
  nvmi_trace_table = &table;
  nvmi_slow.tracing = true;
  nvm_wrap_store64(words, 7);
  nvmi_slow.tracing = false;
  nvmi_trace_table = NULL;
  CHECK(noted == 1 && stores == 1);
  commit();
  finish();
}

/* Behind a jump out of the runtime the next call finds that the thread is not at work, whichever it is. */
TEST_WRAPPED(wrap_calls_after_a_jump) {
  uint64_t pair[2];
  make();
  nvmi_self->busy = 1;
  begin();
  CHECK(nvmi_self->busy == 0);
  nvm_wrap_store64(words, 1);
  if (pool->method->store) {
    nvmi_self->busy = 1;
    nvm_wrap_read(pair, words, sizeof pair);
    CHECK(nvmi_self->busy == 0 && pair[0] == 1);
  }
  nvmi_self->busy = 1;
  commit();
  CHECK(nvmi_self->busy == 0 && words[0] == 1);
  finish();
}

static sem_t semaphore;
static int posted(void) {
  int count;
  CHECK(sem_getvalue(&semaphore, &count) == 0);
  return count;
}

/* As a handler that comes while the thread is at work. */
static void post_at_work(void *address, const void *bytes, size_t size, bool by_program) {
  (void)address, (void)bytes, (void)size, (void)by_program;
  CHECK(nvmi_self->busy && !nvmi_self->posts_count);
  nvmi_self->posts[0] = (struct nvmi_post){&semaphore, 1};
  nvmi_self->posts_count = 1;
}

/* What it has posted happens behind the store. */
TEST_ONCE(wrap_calls_post_behind_a_store) {
  static const struct nvmi_trace_table posts = {
      .event = event, .alone = alone, .stored = post_at_work};
  make_with("lat");
  begin();
  CHECK(sem_init(&semaphore, 0, 0) == 0);
  nvmi_trace_table = &posts;
  nvmi_slow.tracing = true;
  nvm_wrap_store64(words, 1);
  nvmi_slow.tracing = false;
  nvmi_trace_table = NULL;
  CHECK(!nvmi_self->posts_count && posted() == 1);
  commit();
  finish();
}

static bool ends_with_stores;

/* Of the program: behind all that atexit knows of. */
__attribute__((destructor)) static void store_last(void) {
  if (ends_with_stores)
    nvm_wrap_store64(words, 7);
}

static void exit_and_store(void *path) {
  pool = test_open(path);
  words = nvm_pool_root(pool);
  ends_with_stores = true;
  exit(0);
}

/* A store behind the end of the pools is committed by one more. */
TEST_WRAPPED(wrap_calls_behind_an_exit) {
  struct nvm_info info;
  const char *path = test_path("pool");
  make();
  finish();
  CHECK(test_child(NULL, exit_and_store, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  words = nvm_pool_root(pool);
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 0);
  CHECK(nvm_wrap_load64(words) == 7);
  finish();
}

static void store_in_handler(int number) {
  (void)number;
  nvm_wrap_store64(&words[FAR], 1);
}

static void interrupt(void *unused) {
  (void)unused;
  make_with("lat");
  begin();
  nvm_wrap_store64(words, 1);
  signal(SIGUSR1, store_in_handler);
  nvmi_self->busy = 1;
  raise(SIGUSR1);
}

static void *store_first(void *unused) {
  begin();
  fault_no_memory = true; /* for the thread's first message, too */
  nvm_wrap_store64(words, 1);
  return unused;
}

static void store_without_log(void *unused) {
  pthread_t thread;
  (void)unused;
  make_with("lat");
  begin();
  nvm_wrap_store64(words, 1);
  CHECK(pthread_create(&thread, NULL, store_first, NULL) == 0);
  pthread_join(thread, NULL);
}

/* A store that cannot be made ends the process, and says why. */
TEST_ONCE(wrap_calls_that_cannot_store) {
  static const struct {
    void (*body)(void *);
    const char *what;
  } each[] = {{interrupt, "a signal handler that interrupts the runtime stores"},
              {store_without_log, "no log for this thread: no room left"}};
  for (unsigned i = 0; i < 2; i++) {
    char said[1000];
    int status = test_child_says(each[i].body, NULL, said, sizeof said);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(said, test_path("pool")) && strstr(said, each[i].what));
    CHECK(remove(test_path("pool")) == 0);
  }
}
