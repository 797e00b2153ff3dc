/* stale.c: words that several threads rely on, of a pool that counts references: that the counts
 * are not to be believed, and where a table of them lies. They are durable for the thread that
 * stores them and for those that find them stored. A power failure at every event.
 */
#include "schedules.h"

#include "gc/counts.h"
#include "hooks.h"
#include "store.h"

#include "nvmove/inspect.h"

#include <pthread.h>
#include <unistd.h>

static void prepare_counting(void *path) {
  prepare(path);
  pool = test_open(path);
  CHECK(nvm_pool_count_references(pool) == 0 && nvm_pool_close(pool) == 0);
}

static void *spoil(void *unused) {
  nvmi_counts_spoil(pool);
  *acknowledged = 1;
  return unused;
}

static void spoil_alone(void *cut) {
  begin(cut);
  power_hold(false);
  spoil(NULL);
  in_thread(take_log);
  end();
}

static void spoil_meanwhile(const void *address) {
  if (address != &pool->counts->head->exact)
    return;
  power_flush = NULL;
  in_thread(spoil);
}

static void spoil_in_two_threads(void *cut) {
  begin(cut);
  power_flush = spoil_meanwhile;
  power_hold(false);
  nvmi_counts_spoil(pool);
  CHECK(!power_flush);
  in_thread(take_log);
  end();
}

static void verify_stale(const char *path) {
  struct nvm_account account;
  NVM_POOL *image = test_open(path);
  CHECK(nvm_pool_account(image, &account) == 0 && account.counts_references);
  CHECK(account.counts_stale || !*acknowledged);
  CHECK(nvm_pool_close(image) == 0);
}

TEST_ONCE(power_failure_stale_counts) {
  share_progress();
  power_fail_everywhere("undo", prepare_counting, spoil_alone, verify_stale);
  power_fail_everywhere("undo", prepare_counting, spoil_in_two_threads, verify_stale);
}

static unsigned steps, spoiled_at;

enum {
  STEPS = 4
}; /* of making the tables once; the last one when the file says that they are exact */

static void spoil_once(enum nvmi_step step) {
  if (step != NVMI_STEP_COUNT)
    return;
  if (++steps == spoiled_at)
    nvmi_counts_spoil(pool);
  if (steps >= spoiled_at) /* a crash here: the file says so */
    CHECK(nvmi_counts_stale(pool->counts) || (spoiled_at < STEPS && steps == 2 * STEPS - 1));
}

/* As a library does that another thread loads: what was counted by then is counted again. Behind the last
 * step the tables stay spoiled. */
TEST_ONCE(counted_again_where_it_was_spoiled) {
  char path[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  prepare_counting(path);
  pool = test_open(path);
  hook_steps(spoil_once);
  for (spoiled_at = 1; spoiled_at <= STEPS + 1; spoiled_at++) {
    steps = 0;
    CHECK(nvmi_counts_anew(pool) == 0);
    CHECK(steps == (spoiled_at < STEPS ? 2 * STEPS - 1 : STEPS));
    CHECK(pool->counts->stale == (spoiled_at == STEPS));
    CHECK(nvmi_counts_stale(pool->counts) == (spoiled_at == STEPS));
  }
  hook_steps(NULL);
  CHECK(nvm_pool_close(pool) == 0);
}

enum { FAR = 5 * NVM_COUNTS_STRETCH }; /* what nothing leads to so far */

static uint64_t *word_of_table(const NVM_POOL *of) {
  return &of->counts->directory[nvmi_counts_table(FAR)];
}

static void *cover(void *unused) {
  CHECK(nvmi_counts_cover(pool->counts, FAR));
  *acknowledged = 1;
  return unused;
}

static pthread_t other;

/* It may have to wait for the thread that comes here. */
static void cover_meanwhile(const void *address) {
  if (address != word_of_table(pool))
    return;
  power_flush = NULL;
  CHECK(pthread_create(&other, NULL, cover, NULL) == 0);
  usleep(5000);
}

static void cover_in_two_threads(void *cut) {
  begin(cut);
  power_flush = cover_meanwhile;
  power_hold(false);
  cover(NULL);
  CHECK(!power_flush && pthread_join(other, NULL) == 0);
  in_thread(take_log);
  end();
}

static void verify_covered(const char *path) {
  NVM_POOL *image = test_open(path);
  CHECK(*word_of_table(image) || !*acknowledged);
  CHECK(nvm_pool_close(image) == 0);
}

TEST_ONCE(power_failure_table_of_counts) {
  share_progress();
  power_fail_everywhere("undo", prepare_counting, cover_in_two_threads, verify_covered);
}
