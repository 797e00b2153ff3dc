/* undone_lines.c: what is undone of many lines, in whatever order they were stored to, while others have
 * stored to them, too (order/undoing.c, methods/shadow_abort.c).
 */
#include "handing.h"
#include "order/order.h"

#include <stdio.h>

enum { LINES = 40, APART = NVM_LINE_SLOTS, ALL = 2 * APART, CYCLES = 40, EARLY = 8 };
enum { PAGES_MAX = (CYCLES - EARLY) / 2 };

static uint64_t (*lines)[GAP];

static void prepare_lines(void) {
  prepare();
  begin();
  lines = nvm_calloc(all.pool, 0, ALL, sizeof *lines);
  CHECK(lines && nvm_pool_set_root(all.pool, lines) == 0);
  commit();
}

/* Neither up nor down. */
static unsigned nth(unsigned n) { return n * 17 % LINES * 2; }

/* A line whose place in the table another takes in between is listed twice, with half of it each. */
static void store_all(uint64_t value) {
  for (unsigned n = 0; n < LINES; n++) {
    STORE(lines[nth(n) + APART][0], value);
    STORE(lines[nth(n)][0], value);
    STORE(lines[nth(n) + APART][1], value);
  }
}

static bool all_are(uint64_t value) {
  for (unsigned n = 0; n < LINES; n++)
    if (lines[nth(n)][0] != value || lines[nth(n) + APART][0] != value ||
        lines[nth(n) + APART][1] != value)
      return false;
  return true;
}

static void *store_over_and_fail(void *unused) {
  wait_for(1);
  begin();
  pthread_mutex_lock(&all.lock[0]);
  store_all(2);
  all.step = 2;
  wait_for(3);
  CHECK(all_are(2)); /* it has the lock */
  pthread_mutex_unlock(&all.lock[0]);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* Each of them is its dependent's until that is undone, and then what it was before both. */
TEST(undone_lines_wait_for_a_dependent) {
  prepare_lines();
  pthread_t b = start(store_over_and_fail, NULL);
  begin();
  pthread_mutex_lock(&all.lock[0]);
  store_all(1);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0 && all_are(2));
  all.step = 3;
  CHECK(pthread_join(b, NULL) == 0 && all_are(0));
  finish();
}

static void *release_and_commit(void *unused) {
  begin();
  pthread_mutex_lock(&all.lock[0]);
  store_all(1);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 1;
  wait_for(2);
  commit();
  return unused;
}

/* What another has released comes back, also of lines between others. */
TEST(undone_lines_are_what_was_released) {
  prepare_lines();
  pthread_t a = start(release_and_commit, NULL);
  wait_for(1);
  begin();
  pthread_mutex_lock(&all.lock[0]);
  store_all(2);
  for (unsigned n = 0; n < LINES; n++)
    STORE(lines[2 * n + 1][0], 2);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(nvm_tx_abort(all.pool) == 0 && all_are(1));
  for (unsigned n = 0; n < LINES; n++)
    CHECK(lines[2 * n + 1][0] == 0);
  all.step = 2;
  CHECK(pthread_join(a, NULL) == 0);
  finish();
}

static void *store_third(void *unused) {
  wait_for(2);
  begin();
  store(0, 0, 3);
  all.step = 3;
  wait_for(4);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  CHECK(all.words[0] == 2); /* the second's, which is not undone yet */
  all.step = 5;
  return unused;
}

static void *store_second(void *unused) {
  wait_for(1);
  begin();
  store(0, 0, 2);
  all.step = 2;
  wait_for(5);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  CHECK(all.words[0] == 0);
  return unused;
}

/* Of three that stored to a word the first is undone, then the third: the second has its own. */
TEST(undone_is_one_of_three_at_a_time) {
  prepare();
  pthread_t b = start(store_second, NULL), c = start(store_third, NULL);
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(3);
  CHECK(nvm_tx_abort(all.pool) == 0 && all.words[0] == 3);
  all.step = 4;
  CHECK(pthread_join(b, NULL) == 0 && pthread_join(c, NULL) == 0);
  finish();
}

static void *follow_again_and_again(void *unused) {
  for (unsigned i = 0; i < CYCLES; i++) {
    wait_for(4 * i + 1);
    begin();
    store(0, 0, all.words[0] + 1);
    all.step = 4 * i + 2;
    wait_for(4 * i + 3);
    CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
    all.step = 4 * i + 4;
  }
  return unused;
}

static unsigned long mapped_pages(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
  return pages;
}

/* An abort with a dependent takes no memory that it does not give back. */
TEST(undone_again_and_again_takes_no_memory) {
  unsigned long before = 0;
  prepare();
  pthread_t b = start(follow_again_and_again, NULL);
  for (unsigned i = 0; i < CYCLES; i++) {
    if (i == EARLY)
      before = mapped_pages();
    begin();
    CHECK(nvm_alloc(all.pool, 0, 64));
    store(0, 0, 1);
    all.step = 4 * i + 1;
    wait_for(4 * i + 2);
    CHECK(nvm_tx_abort(all.pool) == 0);
    all.step = 4 * i + 3;
    wait_for(4 * i + 4);
  }
  CHECK(mapped_pages() < before + PAGES_MAX);
  CHECK(pthread_join(b, NULL) == 0);
  finish();
}
