/* leftover.c: what undoing a transaction leaves to those that followed it, and what it leaves in memory
 * (order/undoing.c, order/order_join.c, order/kept_blocks.c).
 */
#include "handing.h"
#include "hooks.h"
#include "order/kept_blocks.h"
#include "order/node.h"
#include "order/order.h"
#include "order/order_join.h"

enum { CYCLES = 4, FOLLOWED = 6 /* words, a line apart */ };

/* The runtime's mappings of its own, as far as they are whole. */
static long mapped(void) { return (long)hook_maps - (long)hook_unmapped; }

static void *follow(void *unused) {
  wait_for(1);
  begin();
  store(0, GAP, 1);
  all.step = 2;
  wait_for(3);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

static void undo_beside_a_follower(void) {
  all.step = 0;
  pthread_t other = start(follow, NULL);
  begin();
  CHECK(nvm_alloc(all.pool, 0, 64));
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  all.step = 3;
  CHECK(pthread_join(other, NULL) == 0);
}

static void pack_and_unpack(void) {
  begin();
  CHECK(nvm_alloc(all.pool, 0, 64));
  store(0, 0, 1);
  nvmi_order_lock();
  nvmi_join_pack(nvmi_self, &nvmi_self->node->parcels);
  nvmi_order_unlock();
  all.pool->judges_records = true; /* what was stored is listed */
  nvmi_self->busy++;
  nvmi_join_unpack(nvmi_self);
  nvmi_self->busy--;
  all.pool->judges_records = false;
  commit();
}

/* However often that happens: nothing of it is left in memory. */
TEST(leftover_is_no_memory) {
  static void (*const ways[])(void) = {undo_beside_a_follower, pack_and_unpack};
  prepare();
  for (unsigned way = 0; way < 2; way++) {
    long before = 0;
    for (unsigned i = 0; i < CYCLES; i++) {
      if (i == CYCLES / 2)
        before = mapped();
      ways[way]();
    }
    CHECK(mapped() == before);
  }
  finish();
}

static void *read_and_stay(void *unused) {
  pthread_mutex_lock(&all.lock[0]);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 1;
  wait_for(2);
  return unused;
}

/* Nor of blocks that a close has taken from a reader that lives on. */
TEST(leftover_is_no_memory_behind_a_close) {
  prepare();
  begin();
  CHECK(nvm_alloc(all.pool, 0, 64));
  store(0, 0, 1);
  start(read_and_stay, NULL);
  wait_for(1);
  CHECK(nvm_tx_abort(all.pool) == 0);
  unsigned before = hook_unmapped;
  CHECK(nvmi_blocks_closing(all.pool) == 1);
  CHECK(hook_unmapped == before + 2); /* their list, and that of who knows of them */
  _exit(0);
}

/* By itself, as a handler that interrupts a note. */
static void *store_in_a_handler(void *unused) {
  begin();
  pthread_mutex_lock(&all.lock[0]);
  STORE(all.words[2 * GAP], 2);
  nvmi_self->busy++;
  STORE(all.words[0], 2);
  nvmi_self->busy--;
  all.step = 1;
  wait_for(2);
  CHECK(all.words[0] == 2);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* What a follower's handlers have stored stays as it is until that is undone. */
TEST(leftover_is_what_a_followers_handler_stored) {
  prepare();
  begin();
  STORE(all.words[GAP], 1);
  commit();
  begin();
  store(0, 0, 1);
  pthread_t other = start(store_in_a_handler, NULL);
  wait_for(1);
  CHECK(nvm_tx_abort(all.pool) == 0 && all.words[0] == 2);
  all.step = 2;
  CHECK(pthread_join(other, NULL) == 0 && all.words[0] == 0);
  finish();
}

/* Each stores to its own of the words; the first to those that lie further on. */
static void *store_over(void *first) {
  unsigned from = *(unsigned *)first;
  begin();
  for (unsigned i = from; i < FOLLOWED; i += 2)
    store(i, i * GAP, 2);
  all.step++;
  wait_for(3);
  for (unsigned i = from; i < FOLLOWED; i += 2)
    CHECK(all.words[i * GAP] == 2);
  all.step++;
  wait_for(5);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return NULL;
}

/* What each of several followers has stored stays, wherever it lies. */
TEST(leftover_is_what_each_follower_stored) {
  unsigned odd = 1, even = 0;
  prepare();
  begin();
  for (unsigned i = 0; i < FOLLOWED; i++)
    store(i, i * GAP, 1);
  pthread_t a = start(store_over, &odd);
  wait_for(1);
  pthread_t b = start(store_over, &even);
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  all.step = 3;
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0);
  for (unsigned i = 0; i < FOLLOWED; i++)
    CHECK(all.words[i * GAP] == 0);
  finish();
}
