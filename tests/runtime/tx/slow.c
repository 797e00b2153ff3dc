/* slow.c: commits that others overtake, interrupt or find without room.
 *
 * The first: one thread is held in its commit; a second commits X = 1, and need not wait; a third
 * X = 2, and more until its own record of X is gone, for which the slow one has to go on. Then the
 * process dies. The second thread's record must not come back over the third's data.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "heap/heap.h"
#include "log/checkpoint.h"
#include "log/record.h"
#include "store.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  FAR = 64,  /* words between what two threads write: no line is shared */
  LAST = 700 /* transactions: more than both banks of a log hold */
};

static struct nvmi_persist held;
static void (*real_fence)(void);
static _Thread_local int fences_left; /* the thread stops at the fence that makes this 0 */
static _Atomic bool is_held, let_go;

static void fence(void) {
  real_fence();
  if (fences_left && --fences_left == 0) {
    is_held = true;
    while (!let_go)
      usleep(100);
  }
}

static void make_fences_hold(void) {
  held = *nvmi_persist_process();
  real_fence = held.fence;
  held.fence = fence;
}

struct writer {
  NVM_POOL *pool;
  uint64_t *word;
  uint64_t from, to;
  int hold; /* stop at this fence of the last transaction */
  _Atomic bool done, stay;
};

static void *write_words(void *argument) {
  struct writer *w = argument;
  for (uint64_t value = w->from; value <= w->to; value++) {
    CHECK(nvm_tx_begin(w->pool) == 0);
    STORE(*(value <= 2 ? w->word : w->word + FAR), value);
    fences_left = w->hold;
    CHECK(nvm_tx_commit(w->pool) == 0);
    fences_left = 0;
  }
  w->done = true;
  while (w->stay) /* a thread that ends hands its log on */
    usleep(100);
  return NULL;
}

static void run_slow(void *argument) {
  nvmi_persist_override = &held;
  NVM_POOL *pool = test_open(argument);
  uint64_t *words = nvm_pool_root(pool);
  struct writer x = {.pool = pool, .word = words, .from = 1, .to = 1, .stay = true};
  struct writer other = {.pool = pool, .word = words, .from = 2, .to = LAST};
  struct writer slow = {.pool = pool, .word = words + 2 * FAR, .from = 1, .to = 1, .hold = 1};
  pthread_t first, second, third;
  pool->several_logs = true;
  CHECK(pthread_create(&first, NULL, write_words, &slow) == 0);
  while (!is_held)
    usleep(100);
  CHECK(pthread_create(&second, NULL, write_words, &x) == 0);
  while (!x.done)
    usleep(100);
  CHECK(pthread_create(&third, NULL, write_words, &other) == 0);
  uint64_t seen;
  do {
    seen = words[FAR];
    usleep(20000);
  } while (!seen || seen != words[FAR]);
  CHECK(!other.done); /* no bound passes the slow one: it would be lost */
  let_go = true;
  pthread_join(third, NULL);
  _exit(33);
}

static const char *make_words(void) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  make_fences_hold();
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 2 << 20);
  nvm_tx_begin(pool);
  uint64_t *words = nvm_calloc(pool, 0, 3 * FAR, 8);
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  return path;
}

TEST_ONCE(slow_commit_of_another_thread) {
  const char *path = make_words();
  test_child(NULL, run_slow, (void *)path);
  NVM_POOL *pool = test_open(path);
  const uint64_t *words = nvm_pool_root(pool);
  CHECK(words[0] == 2 && words[FAR] == LAST && words[2 * FAR] == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Also the only log announces its commit: a thread that makes a second may take a checkpoint first. */
TEST_ONCE(checkpoint_stops_at_a_commit) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  make_fences_hold();
  nvmi_persist_override = &held;
  setenv("NVMOVE_DOMAIN", "power", 1);
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  nvm_tx_begin(pool);
  uint64_t *words = nvm_calloc(pool, 0, 8, 8);
  CHECK(words && nvm_tx_commit(pool) == 0);
  pthread_t thread;
  nvmi_ready_detach(pool->logs[0]); /* for the other thread: it stays the only one */
  struct writer slow = {.pool = pool, .word = words, .from = 1, .to = 1, .hold = 1};
  CHECK(pthread_create(&thread, NULL, write_words, &slow) == 0);
  while (!is_held)
    usleep(100);
  CHECK(pool->log_count == 1 && nvmi_checkpoint(pool) < pool->order);
  let_go = true;
  CHECK(pthread_join(thread, NULL) == 0 && nvmi_checkpoint(pool) == pool->order);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A thread reads the next order, stops, and announces it late: what was known durable stays so. */
TEST_ONCE(bound_never_sinks) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  pool->several_logs = true;
  CHECK(nvm_alloc(pool, 0, 16) != NULL && nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  uint64_t bound = pool->order;
  CHECK(nvmi_log_bound(pool) == bound);
  pool->logs[0]->pending = 1 << 1 | 1;
  CHECK(nvmi_log_bound(pool) == bound);
  pool->logs[0]->pending = 0;
  CHECK(nvm_pool_close(pool) == 0);
}

/* Nobody waits for a record that did not fit, and it ends with a fence: the next one goes to the
 * bank of the one before it. */
TEST_ONCE(void_record_is_not_pending) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_alloc(pool, 0, 16) != NULL && nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  struct nvmi_log *log = pool->logs[0];
  struct nvmi_record record;
  nvmi_record_begin(&record, log, log->cursor, true);
  uint64_t fences = log->stats.fences;
  record.full = true;
  CHECK(!nvmi_record_end(&record));
  CHECK(log->pending == 0 && log->solo == 0 && log->stats.fences == fences + 1);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A signal handler stored to a neighbour of what is being committed: its store is not of that
 * transaction. */
TEST_ONCE(handler_beside_a_commit) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  nvm_tx_begin(pool);
  uint64_t *words = nvm_calloc(pool, 0, FAR, 8);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
  STORE(words[0], 1);
  words[1] = 7;
  struct nvmi_array *nested = &nvmi_self->nested; /* as its note leaves it */
  ((struct nvmi_line *)nested->items)[nested->count++] =
      (struct nvmi_line){(uint64_t)(uintptr_t)&words[FAR - 1] >> 6, UINT64_MAX};
  CHECK(nvm_tx_commit(pool) == 0);
  const uint64_t *home = (const uint64_t *)(pool->home + nvmi_offset(pool, words));
  CHECK(home[0] == 1 && home[1] == 0);
  words[1] = 0;
  CHECK(nvm_pool_close(pool) == 0);
}

enum { BLOCK = 20000, WORTHLESS = 100, NEEDED = 50 };

/* While one thread is held in its commit no bound passes it. So the record that last wrote to a
 * block, and freed it, would be replayed over what the next transaction stores there. */
static void use_again(void *argument) {
  nvmi_persist_override = &held;
  NVM_POOL *pool = test_open(argument);
  struct {
    uint64_t word[FAR];
    char *block;
  } *root = nvm_pool_root(pool);
  struct writer slow = {.pool = pool, .word = root->word, .from = 1, .to = 1, .hold = 1};
  pool->several_logs = true;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, write_words, &slow) == 0);
  while (!is_held)
    usleep(100);
  char *block = root->block;
  CHECK(nvm_tx_begin(pool) == 0);
  note_store(block, WORTHLESS);
  memset(block, 0xee, WORTHLESS);
  STORE(root->block, NULL);
  CHECK(nvm_free(block) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 0, BLOCK) == block);
  note_store(block, BLOCK);
  memset(block, NEEDED, BLOCK);
  STORE(root->block, block);
  CHECK(nvm_tx_commit(pool) == 0);
  _exit(33);
}

TEST_ONCE(new_block_behind_a_slow_commit) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  make_fences_hold();
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 2 << 20);
  nvm_tx_begin(pool);
  char **root = nvm_calloc(pool, 0, FAR + 1, 8);
  STORE(root[FAR], nvm_calloc(pool, 0, 1, BLOCK));
  CHECK(nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  int status = test_child(NULL, use_again, (void *)(uintptr_t)path);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 33);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  CHECK(root[FAR] != NULL);
  for (unsigned i = 0; i < BLOCK; i++)
    CHECK(root[FAR][i] == NEEDED);
  CHECK(nvm_pool_close(pool) == 0);
}

enum { LARGE = 2 << 20, SMALL = 60000, SMALLS = 100, PIECE = 500000, PIECES = 24 };

struct extent {
  const char *block;
  size_t size;
};

/* How many of the new pieces lie in what was freed; they are given back. */
static unsigned pieces_in(NVM_POOL *pool, const struct extent *freed, unsigned count) {
  unsigned inside = 0;
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < PIECES; i++) {
    const char *piece = nvm_alloc(pool, 0, PIECE);
    CHECK(piece != NULL);
    bool is_inside = false;
    for (unsigned j = 0; j < count; j++)
      is_inside |= piece < freed[j].block + freed[j].size && freed[j].block < piece + PIECE;
    inside += is_inside;
  }
  CHECK(nvm_tx_abort(pool) == 0);
  return inside;
}

/* While one thread is held in its commit no record is done with. So chunks that are free since stay
 * what they were, those of a large block as those of small ones: a crash could replay the record
 * that freed them, or one that wrote to them, over what is there by then. */
TEST_ONCE(chunks_behind_a_slow_commit) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  make_fences_hold();
  nvmi_persist_override = &held;
  NVM_POOL *pool = test_create(test_path("pool"), 48 << 20);
  struct extent freed[1 + SMALLS] = {{.size = LARGE}};
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, FAR, 8);
  for (unsigned i = 0; i <= SMALLS; i++) {
    freed[i].size = i ? SMALL : LARGE;
    CHECK((freed[i].block = nvm_alloc(pool, 0, freed[i].size)) != NULL);
  }
  CHECK(nvm_tx_commit(pool) == 0);
  pool->several_logs = true;
  struct writer slow = {.pool = pool, .word = words, .from = 1, .to = 1, .hold = 1};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, write_words, &slow) == 0);
  while (!is_held)
    usleep(100);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i <= SMALLS; i++)
    CHECK(nvm_free((void *)(uintptr_t)freed[i].block) == 0);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(pieces_in(pool, freed, 1 + SMALLS) == 0);
  let_go = true;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pieces_in(pool, freed, 1) > 0 && pieces_in(pool, freed + 1, SMALLS) > 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void commit_and_compare(void *argument) {
  nvmi_persist_override = &held;
  NVM_POOL *pool = test_open(argument);
  uint64_t *words = nvm_pool_root(pool);
  struct writer slow = {.pool = pool, .word = words + 2 * FAR, .from = 1, .to = 1, .hold = 1};
  pthread_t thread;
  pool->several_logs = true; /* else the second log waits for the commit of the first */
  CHECK(pthread_create(&thread, NULL, write_words, &slow) == 0);
  while (!is_held)
    usleep(100);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[0], 1);
  CHECK(nvm_tx_commit(pool) == 0);
  let_go = true;
  CHECK(pthread_join(thread, NULL) == 0 && nvm_pool_close(pool) == 0);
}

/* What a thread in its commit has not stored in place yet was noted all the same. */
TEST_ONCE(compare_beside_a_slow_commit) {
  const char *path = make_words();
  setenv("NVMOVE_DEBUG", "compare", 1);
  CHECK(test_child(NULL, commit_and_compare, (void *)path) == 0);
}
