/* parcels.c: an open transaction is packed up for another thread, and unpacked (order/order_join.c). */
#include "core/lines.h"
#include "core/tracing.h"
#include "handing.h"
#include "order/node.h"
#include "order/order.h"
#include "order/order_join.h"
#include "simulation.h"
#include "tx/tx.h"
#include "tx/tx_order.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { OTHER = GAP * 8, TYPES = 256 };

static unsigned events[TYPES];

static void event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                  uint64_t extra) {
  (void)pool, (void)place, (void)extra;
  events[kind]++;
}
static void alone(enum nvm_trace_kind kind, uint64_t extra) {
  (void)extra;
  events[kind]++;
}
static void passed_by(const void *lock) { (void)lock; }
static void stored(void *address, const void *bytes, size_t size, bool by_program) {
  (void)address, (void)bytes, (void)size, (void)by_program;
}
static const struct nvmi_trace_table counting = {
    .event = event, .alone = alone, .stored = stored, .release = passed_by, .acquire = passed_by};

/* As a commit that joins another does; the parcels stay with the thread's own node. */
static void pack(void) {
  nvmi_order_lock();
  if (!nvmi_self->node)
    nvmi_self->node = nvmi_node_new(nvmi_self);
  nvmi_join_pack(nvmi_self, &nvmi_self->node->parcels);
  nvmi_order_unlock();
}

/* Nothing of it is left in the thread: what it stores from then on is noted anew. What it had comes
 * back with the parcels, and an abort undoes all of it. */
TEST(parcels_have_all_that_was_open) {
  prepare();
  begin();
  store(0, 0, 1);
  STORE(all.words[GAP], 2); /* noted, in no list */
  CHECK(nvmi_self->used_count && nvmi_self->touched == 1);
  pack();
  CHECK(!nvmi_self->touched && !nvmi_self->lines.count && !nvmi_self->used_count);
  CHECK(nvmi_self->node->parcels.count == 1);
  STORE(all.words[GAP], 3);
  STORE(all.words[OTHER], 3);
  CHECK(nvm_tx_abort(all.pool) == 0);
  CHECK(!all.words[0] && !all.words[GAP] && !all.words[OTHER]);
  finish();
}

/* Who has stored nothing itself commits them, in the pools that they are of. */
TEST(parcels_are_committed_by_who_stored_nothing) {
  prepare();
  begin();
  store(0, 0, 1);
  STORE(all.words[GAP], 2);
  nvmi_trace_table = &counting;
  nvmi_slow.tracing = true;
  pack();
  CHECK(events[NVM_TRACE_JOIN] == 1 && events[NVM_TRACE_ADOPT] == 0);
  CHECK(nvmi_order_close(nvmi_self, true) == 1 && !nvmi_self->touched);
  nvmi_join_unpack(nvmi_self);
  CHECK(events[NVM_TRACE_JOIN] == 1 && events[NVM_TRACE_ADOPT] == 1);
  nvmi_slow.tracing = false;
  nvmi_trace_table = NULL;
  CHECK(nvmi_self->touched == 1 && all.pool->parcels == 0);
  commit();
  reopen();
  CHECK(all.words[0] == 1 && all.words[GAP] == 2);
  finish();
}

static void *store_over_and_abort(void *unused) {
  begin();
  store(0, 0, 2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

/* What comes back where another is undone is what lies in parcels. */
TEST(parcels_have_what_was_released) {
  prepare();
  begin();
  store(0, 0, 1);
  pack();
  CHECK(pthread_join(start(store_over_and_abort, NULL), NULL) == 0 && all.words[0] == 1);
  commit();
  reopen();
  CHECK(all.words[0] == 1);
  finish();
}

static void stay_open_in_one_of_two(void *unused) {
  (void)unused;
  prepare();
  NVM_POOL *other = test_create(test_path("other"), 2 << 20);
  CHECK(nvm_tx_begin(other) == 0);
  uint64_t *word = nvm_calloc(other, 0, 1, sizeof *word);
  CHECK(nvm_tx_commit(other) == 0 && nvm_tx_begin(other) == 0);
  begin();
  STORE(*word, 1);
  STORE(all.words[0], 1);
  nvmi_lines_collect_all(nvmi_self);
  CHECK(nvmi_self->lines.count == 2);
  nvmi_tx_stay_open(nvmi_self, UINT64_C(1) << other->index);
  const struct nvmi_line *line = nvmi_self->lines.items;
  CHECK(nvmi_self->lines.count == 1 && line->line == (uintptr_t)word / NVM_LINE_SIZE);
  _exit(0);
}

/* What is left of a transaction that failed in one pool is of that one. */
TEST(parcels_of_one_pool_stay_open) { CHECK(test_child(NULL, stay_open_in_one_of_two, NULL) == 0); }

static volatile uint64_t *committed; /* shared with the process whose power fails */

static void prepare_words(void *path) {
  all.pool = test_create(path, 1 << 20);
  begin();
  all.words = nvm_calloc(all.pool, 0, WORDS, sizeof *all.words);
  CHECK(all.words && nvm_pool_set_root(all.pool, all.words) == 0);
  commit();
  CHECK(nvm_pool_close(all.pool) == 0);
}

static struct nvmi_array handed;

static void *store_and_hand_over(void *unused) {
  begin();
  store(0, 0, 1);
  STORE(all.words[GAP], 1);
  nvmi_order_lock();
  nvmi_join_pack(nvmi_self, &handed);
  nvmi_order_unlock();
  commit(); /* of nothing */
  all.step = 1;
  wait_for(2); /* its end would fence */
  return unused;
}

static void *take_log(void *word) {
  begin();
  STORE(all.words[(uintptr_t)word], 1);
  all.step++;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return NULL;
}

/* For all that need one: who makes a log fences. */
static void make_logs(void) {
  pthread_t first = start(take_log, (void *)GAP), second = start(take_log, (void *)OTHER);
  CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, NULL) == 0);
  all.step = 0;
}

static void commit_anothers(void *argument) {
  const struct power_cut *cut = argument;
  *committed = 0;
  power_arm(cut);
  power_hold(true);
  all.pool = test_open(cut->path);
  all.pool->judges_records = false; /* else who commits lists what another stored, and flushes it */
  all.words = nvm_pool_root(all.pool);
  begin();
  store(1, OTHER, 1);
  make_logs();
  power_hold(false);
  pthread_t other = start(store_and_hand_over, NULL);
  wait_for(1);
  nvmi_order_lock();
  for (size_t i = 0; i < handed.count; i++)
    nvmi_order_push(&nvmi_self->node->parcels, (struct nvmi_parcel *)handed.items + i,
                    sizeof(struct nvmi_parcel));
  nvmi_order_unlock();
  commit();
  *committed = 1;
  all.pool->persist->fence(); /* the power may fail here, too */
  power_hold(true);
  all.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static void verify_all_or_none(const char *image) {
  NVM_POOL *pool = test_open(image);
  const uint64_t *words = nvm_pool_root(pool);
  CHECK(words[0] == words[GAP] && words[0] == words[OTHER] && words[0] >= *committed);
  CHECK(nvm_pool_close(pool) == 0);
}

static void lose_power(const char *method) {
  committed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(committed != MAP_FAILED);
  for (unsigned i = 0; i < RING; i++)
    pthread_mutex_init(&all.lock[i], NULL);
  power_fail_everywhere(method, prepare_words, commit_anothers, verify_all_or_none);
}

/* What one thread stored is durable by the time that another commits it. */
TEST_ONCE(power_failure_handed_over_undo) { lose_power("undo"); }
TEST_ONCE(power_failure_handed_over_shadow) { lose_power("shadow"); }

static void release_and_close(void *path) {
  struct power_cut cut = {.path = path, .image = test_path("image"), .at = 1};
  power_arm(&cut);
  power_hold(true);
  all.pool = test_open(path);
  all.words = nvm_pool_root(all.pool);
  begin();
  store(0, 0, 1);
  store(1, GAP, 1);
  commit();
  CHECK(nvm_pool_close(all.pool) == 0);
  power_hold(false);
  test_open(path);
}

static void lose_power_behind_a_close(const char *method) {
  char *path = (char *)(uintptr_t)test_path("pool");
  setenv("NVMOVE_METHOD", method, 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  for (unsigned i = 0; i < RING; i++)
    pthread_mutex_init(&all.lock[i], NULL);
  prepare_words(path);
  int status = test_child(NULL, release_and_close, path);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == POWER_CUT);
  NVM_POOL *pool = test_open(test_path("image"));
  const uint64_t *words = nvm_pool_root(pool);
  CHECK(words[0] == 1 && words[GAP] == 1 && nvm_pool_close(pool) == 0);
}

/* What was released before its commit is in its place when the logs are called empty. */
TEST_ONCE(power_failure_behind_a_close_of_released_undo) { lose_power_behind_a_close("undo"); }
TEST_ONCE(power_failure_behind_a_close_of_released_shadow) { lose_power_behind_a_close("shadow"); }
