/* counted_among.c: reference counts where a transaction releases its lock, and another one stores
 * to the same blocks, or frees them, before it commits.
 */
#include "harness.h"
#include "store.h"
#include "type_tables.h"

#include "core/pool.h"
#include "gc/counts.h"
#include "nvmove/inspect.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { ITEM_ID = 3401 };

struct item {
  struct item *next, *other;
  uint64_t number;
};
static const struct nvm_field fields[] = {
    TEST_FIELD(item, next, NVM_FIELD_POINTER, .target = ITEM_ID),
    TEST_FIELD(item, other, NVM_FIELD_POINTER, .target = ITEM_ID)};
static const struct nvm_type item_type = TEST_TYPE(ITEM_ID, item, fields);
TEST_TYPES(described, &item_type);

static struct among {
  NVM_POOL *pool;
  struct item *root, *y; /* root->next: what the two meet at; root->other: y */
  pthread_mutex_t lock;
  _Atomic unsigned step;
  void (*second)(void);
  bool aborts;
} among = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void await(unsigned step) {
  while (among.step < step)
    sched_yield();
}

static void *go_second(void *unused) {
  (void)unused;
  await(1);
  CHECK(nvm_tx_begin(among.pool) == 0);
  pthread_mutex_lock(&among.lock);
  among.second();
  pthread_mutex_unlock(&among.lock);
  among.step = 2;
  await(3);
  if (among.aborts)
    CHECK(nvm_tx_abort(among.pool) == 0);
  else
    CHECK(nvm_tx_commit(among.pool) == 0);
  return NULL;
}

/* The second's transaction is open when the first commits. Then nothing that is linked is freed. */
static void meet(void (*first)(void), void (*second)(void), bool aborts) {
  pthread_t thread;
  among.step = 0;
  among.second = second;
  among.aborts = aborts;
  CHECK(pthread_create(&thread, NULL, go_second, NULL) == 0);
  CHECK(nvm_tx_begin(among.pool) == 0);
  pthread_mutex_lock(&among.lock);
  first();
  pthread_mutex_unlock(&among.lock);
  among.step = 1;
  await(2);
  CHECK(nvm_tx_commit(among.pool) == 0);
  among.step = 3;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(nvm_pool_verify(among.pool, test_print_fault, (void *)(uintptr_t)"verify") == 0);
  CHECK(nvm_pool_release(among.pool, NULL) == 0);
  CHECK(nvm_usable_size(among.y) > 0 && nvm_pool_verify_pointers(among.pool, NULL, NULL) == 0);
}

static struct item *add(void) {
  struct item *made = nvm_calloc(among.pool, ITEM_ID, 1, sizeof *made);
  CHECK(made);
  STORE(made->next, among.y);
  STORE(among.root->next, made);
  return made;
}

static void make(void) {
  among.pool = test_create(test_path("pool"), 2 << 20);
  CHECK(nvm_tx_begin(among.pool) == 0);
  among.root = nvm_calloc(among.pool, ITEM_ID, 1, sizeof(struct item));
  among.y = nvm_calloc(among.pool, ITEM_ID, 1, sizeof(struct item));
  STORE(among.root->other, among.y);
  CHECK(nvm_pool_set_root(among.pool, among.root) == 0 && nvm_tx_commit(among.pool) == 0);
  CHECK(nvm_pool_count_references(among.pool) == 0);
}

static void add_first(void) { (void)add(); }
static void link_y(void) { STORE(among.root->next->other, among.y); }
static void unlink_y(void) { STORE(among.root->next->next, NULL); }
static void free_item(void) {
  struct item *item = among.root->next;
  STORE(among.root->next, NULL);
  CHECK(nvm_free(item) == 0);
}

TEST(counted_where_another_frees_the_holder) {
  for (unsigned aborts = 0; aborts < 2; aborts++) {
    make();
    CHECK(nvm_tx_begin(among.pool) == 0);
    STORE(add()->next, NULL);
    CHECK(nvm_tx_commit(among.pool) == 0);
    meet(link_y, free_item, aborts);
    CHECK(nvm_pool_close(among.pool) == 0 && remove(test_path("pool")) == 0);
  }
}

TEST(counted_where_another_links_from_a_new_block) {
  for (unsigned aborts = 0; aborts < 2; aborts++) {
    make();
    meet(add_first, link_y, aborts);
    CHECK(nvm_pool_close(among.pool) == 0 && remove(test_path("pool")) == 0);
  }
}

/* The file has in the new block what the transaction stores there. */
TEST(counted_where_another_unlinks_from_a_block_used_again) {
  for (unsigned aborts = 0; aborts < 2; aborts++) {
    make();
    CHECK(nvm_tx_begin(among.pool) == 0);
    struct item *before = add();
    CHECK(nvm_tx_commit(among.pool) == 0 && nvm_tx_begin(among.pool) == 0);
    free_item();
    CHECK(nvm_tx_commit(among.pool) == 0);
    meet(add_first, unlink_y, aborts);
    CHECK(!among.root->next || among.root->next == before);
    CHECK(nvm_pool_close(among.pool) == 0 && remove(test_path("pool")) == 0);
  }
}

/* The program's own mistake, a store to a block that it has freed, changes no count. */
TEST(counted_in_spite_of_a_store_to_a_freed_block) {
  make();
  CHECK(nvm_tx_begin(among.pool) == 0);
  struct item *item = add();
  CHECK(nvm_tx_commit(among.pool) == 0 && nvm_tx_begin(among.pool) == 0);
  free_item();
  CHECK(nvm_tx_commit(among.pool) == 0 && nvm_tx_begin(among.pool) == 0);
  STORE(item->next, NULL);
  CHECK(nvm_tx_commit(among.pool) == 0);
  CHECK(nvm_pool_verify(among.pool, test_print_fault, (void *)(uintptr_t)"verify") == 0);
  CHECK(nvm_pool_release(among.pool, NULL) == 0 && nvm_usable_size(among.y) > 0);
  CHECK(nvm_pool_close(among.pool) == 0);
}

enum { MOMENT = 200000 };
static int full[2]; /* a pipe */

static void *link_late(void *unused) {
  usleep(MOMENT); /* the process ends, and waits for the pipe */
  CHECK(nvm_tx_begin(among.pool) == 0);
  struct item *item = nvm_calloc(among.pool, ITEM_ID, 1, sizeof *item);
  STORE(among.root->next, item);
  CHECK(nvm_tx_commit(among.pool) == 0);
  return unused;
}

static void *empty_late(void *unused) {
  char bytes[4096];
  usleep(2 * MOMENT);
  while (read(full[0], bytes, sizeof bytes) > 0)
    ;
  return unused;
}

static void exit_beside_a_link(void *path) {
  pthread_t thread;
  setenv("NVMOVE_STATS", "1", 1);
  among.pool = test_open(path);
  among.root = nvm_pool_root(among.pool);
  CHECK(pipe(full) == 0 && fcntl(full[1], F_SETFL, O_NONBLOCK) == 0);
  while (write(full[1], "", 1) == 1)
    ;
  CHECK(fcntl(full[1], F_SETFL, 0) == 0 && dup2(full[1], STDERR_FILENO) == STDERR_FILENO);
  CHECK(pthread_create(&thread, NULL, empty_late, NULL) == 0 && pthread_detach(thread) == 0);
  CHECK(pthread_create(&thread, NULL, link_late, NULL) == 0 && pthread_detach(thread) == 0);
  exit(0);
}

/* What a thread links and ends while another ends the process is counted, or known not to be. */
TEST(counted_beside_an_exit) {
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct item *root = nvm_calloc(pool, ITEM_ID, 1, sizeof *root);
  CHECK(nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_count_references(pool) == 0 && nvm_pool_close(pool) == 0);
  CHECK(test_child(NULL, exit_beside_a_link, (void *)(uintptr_t)path) == 0);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  uint64_t freed = 0;
  CHECK(root->next && nvm_pool_release(pool, &freed) == 0 && !freed);
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"exit") == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The thread that counts waits for more: that is no wait of the program's for a condition. */
TEST(counted_by_a_thread_while_a_lock_is_handed_on) {
  make();
  struct nvmi_counts *counts = among.pool->counts;
  CHECK(nvm_tx_begin(among.pool) == 0);
  pthread_mutex_lock(&among.lock);
  STORE(among.root->number, 1);
  pthread_mutex_unlock(&among.lock);
  nvmi_lock(&counts->append);
  nvmi_wait(&counts->wake, &counts->append, 1);
  nvmi_unlock(&counts->append);
  CHECK(nvm_tx_commit(among.pool) == 0 && nvm_pool_close(among.pool) == 0);
}
