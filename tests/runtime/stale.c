/* stale.c: that counts of references are not to be believed is durable before whatever is not
 * counted, for the thread that says so first and for those that find it said. A power failure at
 * every event.
 */
#include "schedules.h"

#include "gc/counts.h"
#include "store.h"

#include "nvmove/inspect.h"

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
  if (address != &pool->counts->head->stale)
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
