/* standing.c: while a transaction is undone, or a pool closed, those that follow it stand still, or are
 * waited for.
 */
#include "core/thread.h"
#include "followers.h"

static void let_the_other_go(void) {
  if (all.step != 2)
    return;
  all.step = 3;
  usleep(MOMENT);
  all.early = all.step > 3;
}

static void *drain_meanwhile(void *unused) {
  wait_for(1);
  begin();
  read_under(&all.lock);
  __nvm_note_ahead(&all.words[0], sizeof *all.words);
  __nvm_note_ahead(&all.words[FAR], sizeof *all.words);
  all.step = 2;
  wait_for(3);
  drain_notes();
  all.step++;
  all.words[0] = all.words[FAR] = 5;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

static void *store_elsewhere_meanwhile(void *unused) {
  wait_for(1);
  begin();
  store_and_release(2);
  all.step = 2;
  wait_for(3);
  STORE(all.words2[0], 5);
  all.step++;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* While a transaction is undone, those that follow it stand still wherever they are: what was noted
 * ahead is not drained, and nothing is noted in another pool. */
static void undo_beside(void *(*run)(void *)) {
  all.words2 = make(&all.second, "second");
  hook_barrier = let_the_other_go;
  pthread_t follower = start(run, NULL);
  begin();
  store_and_release(1);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  join(follower);
  hook_barrier = NULL;
  CHECK(all.step == 4 && !all.early);
  CHECK(all.words[0] == 0 && all.words[FAR] == 0 && all.words2[0] == 0);
  CHECK(nvm_pool_close(all.second) == 0 && nvm_pool_close(all.pool) == 0);
}

TEST(stands_still_before_it_drains) {
  prepare();
  if (all.pool->method->entries) /* else nothing waits for a drain */
    undo_beside(drain_meanwhile);
}

TEST(stands_still_before_it_stores_elsewhere) {
  prepare();
  undo_beside(store_elsewhere_meanwhile);
}

static void close_meanwhile(void) {
  if (all.step == 3) {
    all.step = 4;
    usleep(MOMENT);
  }
}

static void *read_in_another_pool(void *unused) {
  wait_for(1);
  CHECK(nvm_tx_begin(all.second) == 0);
  read_under(&all.lock);
  all.step = 2;
  wait_for(3);
  CHECK(nvm_tx_commit(all.second) == 0 && nvmi_self->uses_open == 0);
  return unused;
}

/* A pool stays open until blocks are given back by one who has never stored there. */
TEST(closed_while_blocks_are_given_back) {
  prepare();
  all.words2 = make(&all.second, "second");
  hook_barrier = close_meanwhile;
  pthread_t reader = start(read_in_another_pool, NULL);
  begin();
  pthread_mutex_lock(&all.lock);
  STORE(all.words[0], 1);
  CHECK(nvm_alloc(all.pool, 0, BLOCK));
  pthread_mutex_unlock(&all.lock);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  all.step = 3;
  wait_for(4);
  CHECK(nvm_pool_close(all.pool) == 0);
  join(reader);
  hook_barrier = NULL;
  CHECK(nvm_pool_close(all.second) == 0);
  test_check_pool(test_path("pool"));
}
