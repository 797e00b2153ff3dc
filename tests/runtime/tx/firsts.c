/* firsts.c: the first words of something new: a pool's root, a type's entry, the link to a log's next
 * segment. They are durable before others build on them, also where a process died in between.
 */
#include "core/map.h"
#include "format/layout.h"
#include "harness.h"
#include "heap/heap.h"
#include "platform/persist.h"
#include "pool/pool.h"
#include "simulation.h"
#include "store.h"
#include "type_tables.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

enum { OLD_ID = 3281, NEW_ID, WORDS = 40000, EVENTS_MAX = 1 << 15 };

#define TYPE(number, text) {.id = number, .name = text, .members = "", .size = 64, .alignment = 8}
static const struct nvm_type old_type = TYPE(OLD_ID, "struct first"),
                             new_type = TYPE(NEW_ID, "struct second");
TEST_TYPES(described, &old_type, &new_type);

static const void *flushed[EVENTS_MAX];
static size_t flushes;

static void remember(const void *address, size_t size) {
  if (size < sizeof(struct nvm_root_words))
    return;
  CHECK(flushes < EVENTS_MAX);
  flushed[flushes++] = address;
}

/* A root that was never set is one, too, with its second copy. */
TEST_ONCE(first_root_is_flushed) {
  setenv("NVMOVE_DOMAIN", "power", 1);
  struct nvmi_persist persist = *nvmi_persist_process();
  bool found = false;
  persist.flush = remember;
  nvmi_persist_override = &persist;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  for (size_t i = 0; i < flushes; i++)
    found |= flushed[i] == pool->home + NVM_ROOT_OFFSET;
  CHECK(found && nvm_pool_close(pool) == 0);
}

struct root {
  void *block;
  uint64_t words[WORDS];
};

static void prepare(void *path) {
  NVM_POOL *pool = test_create(path, 4 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct root *root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_alloc(pool, OLD_ID, 64));
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

static NVM_POOL *shared;
static _Atomic unsigned step; /* no lock is handed on */

static void await(unsigned wanted) {
  while (step < wanted)
    sched_yield();
}

static void *allocate_and_link(void *unused) {
  struct root *root = nvm_pool_root(shared);
  CHECK(nvm_tx_begin(shared) == 0);
  STORE(root->words[8], 1);
  CHECK(nvm_alloc(shared, OLD_ID, 64) && nvm_tx_commit(shared) == 0);
  step = 1;
  await(2);
  CHECK(nvm_tx_begin(shared) == 0);
  STORE(root->block, nvm_alloc(shared, NEW_ID, 64));
  CHECK(nvm_tx_commit(shared) == 0);
  return unused;
}

/* One thread is the first to have a type, and does not commit; another commits a block of it. */
static void enter_type(void *cut) {
  pthread_t other;
  power_arm(cut);
  power_hold(true);
  shared = test_open(((const struct power_cut *)cut)->path);
  CHECK(nvm_tx_begin(shared) == 0 && nvm_alloc(shared, OLD_ID, 64));
  CHECK(pthread_create(&other, NULL, allocate_and_link, NULL) == 0);
  await(1);
  power_hold(false);
  CHECK(nvm_alloc(shared, NEW_ID, 64));
  step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  power_hold(true);
  CHECK(nvm_tx_abort(shared) == 0 && nvm_pool_close(shared) == 0);
}

static void verify_type(const char *path) {
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  CHECK(!root->block || nvmi_heap_type(pool, root->block) == NEW_ID);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

TEST_ONCE(power_failure_first_block_of_a_type) {
  power_fail_everywhere("undo", prepare, enter_type, verify_type);
}

/* The link to a segment is stored; its flush is where the process dies. */
static void die_at_link(const void *address) {
  const struct nvm_pool *pool = nvmi_pool_number(0);
  uint64_t at = (uint64_t)((const char *)address - pool->home), heap = pool->header.heap_offset;
  if (at > heap && (at - heap) % NVM_CHUNK_SIZE == offsetof(struct nvm_segment, next) &&
      *(const uint64_t *)address)
    power_hold(false);
}

static void store_long(NVM_POOL *pool, uint64_t value) {
  struct root *root = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(root->words[i], value);
  CHECK(nvm_tx_commit(pool) == 0);
}

static void grow_log(void *cut) {
  power_arm(cut);
  power_hold(true);
  NVM_POOL *pool = test_open(((const struct power_cut *)cut)->path);
  if (((const struct power_cut *)cut)->kills)
    power_flush = die_at_link;
  store_long(pool, 5);
  power_hold(false);
  pool->persist->fence();
}

static void lose_link(const char *method) {
  char *path = (char *)(uintptr_t)test_path("pool");
  struct power_cut kill = {.path = path, .image = test_path("media"), .at = 1, .kills = true};
  struct power_cut cut = {.path = path, .image = test_path("image"), .media = kill.image, .at = 1};
  setenv("NVMOVE_METHOD", method, 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  prepare(path);
  int status = test_child(NULL, grow_log, &kill);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == POWER_CUT);
  status = test_child(NULL, grow_log, &cut);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == POWER_CUT);
  NVM_POOL *pool = test_open(cut.image);
  const struct root *root = nvm_pool_root(pool);
  for (unsigned i = 0; i < WORDS; i++)
    CHECK(root->words[i] == 5);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Who goes on behind a link that another process has left makes sure of it. */
TEST_ONCE(power_failure_first_link_undo) { lose_link("undo"); }
TEST_ONCE(power_failure_first_link_shadow) { lose_link("shadow"); }
