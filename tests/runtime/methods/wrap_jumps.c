/* wrap_jumps.c: a signal's handler leaves by a jump while libnvmove stores or loads for a wrap. Code that a
 * plain compiler made does not say where it lands: the next call finds out (tx/wrap.c). */
#define _GNU_SOURCE
#include "harness.h"

#include "nvmove/nvmove.h"
#include "nvmove/wrap.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { WORDS = 4096, BLOCK = 64, WRAPS = 400, STORES = 50, TICK_US = 150 };

static sigjmp_buf landing;
static volatile sig_atomic_t is_armed;
static volatile unsigned jumps;

static void jump(int number) {
  (void)number;
  if (is_armed) {
    is_armed = 0;
    siglongjmp(landing, 1);
  }
}

static void store(uint64_t *to, uint64_t value, bool is_block) {
  uint64_t block[BLOCK];
  for (unsigned i = 0; i < BLOCK; i++)
    block[i] = value + i;
  if (is_block)
    nvm_wrap_write(to, block, sizeof block);
  else
    nvm_wrap_store64(to, value);
}

/* A store that a jump has left is made or not, word by word; all others are there. */
static void store_one(uint64_t *words, uint64_t *model) {
  volatile unsigned first = (unsigned)rand() % (WORDS - BLOCK);
  volatile uint64_t value = (uint64_t)rand() << 20;
  volatile unsigned count = rand() % 3 ? 1 : BLOCK;
  if (sigsetjmp(landing, 1) == 0) {
    is_armed = 1;
    store(&words[first], value, count > 1);
    is_armed = 0;
    for (unsigned i = 0; i < count; i++)
      model[first + i] = value + i;
    return;
  }
  jumps++;
  for (unsigned i = 0; i < count; i++) {
    uint64_t now = nvm_wrap_load64(&words[first + i]);
    CHECK(now == model[first + i] || now == value + i);
    model[first + i] = now;
  }
}

static void load_some(const uint64_t *words, const uint64_t *model) {
  volatile unsigned first = (unsigned)rand() % (WORDS - BLOCK);
  uint64_t seen[BLOCK];
  if (sigsetjmp(landing, 1) == 0) {
    is_armed = 1;
    nvm_wrap_read(seen, &words[first], sizeof seen);
    is_armed = 0;
    CHECK(memcmp(seen, &model[first], sizeof seen) == 0);
  }
}

TEST_WRAPPED(wrapped_call_is_left_by_a_jump) {
  static uint64_t model[WORDS], committed[WORDS];
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 8 << 20);
  CHECK(nvm_wrap_open(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_wrap_close(pool) == 0);
  CHECK(signal(SIGALRM, jump) != SIG_ERR);
  struct itimerval ticks = {{0, TICK_US}, {0, TICK_US}};
  CHECK(setitimer(ITIMER_REAL, &ticks, NULL) == 0);
  for (unsigned i = 0; i < WRAPS; i++) {
    CHECK(nvm_wrap_open(pool) == 0);
    unsigned before = jumps;
    for (unsigned n = 0; n < STORES; n++) {
      store_one(words, model);
      if (jumps != before && i % 2) { /* the landing gives the wrap up */
        CHECK(nvm_tx_abort(pool) == 0);
        CHECK(memcmp(words, committed, sizeof committed) == 0);
        memcpy(model, committed, sizeof model);
        CHECK(nvm_wrap_open(pool) == 0);
        before = jumps;
      }
      if (n % 4 == 0)
        load_some(words, model);
    }
    CHECK(nvm_wrap_close(pool) == 0);
    CHECK(memcmp(words, model, sizeof model) == 0);
    memcpy(committed, model, sizeof model);
  }
  ticks = (struct itimerval){0};
  CHECK(setitimer(ITIMER_REAL, &ticks, NULL) == 0);
  CHECK(jumps > 0 && nvm_pool_close(pool) == 0);
  pool = test_open(path);
  CHECK(memcmp(nvm_pool_root(pool), model, sizeof model) == 0 && nvm_pool_close(pool) == 0);
}
