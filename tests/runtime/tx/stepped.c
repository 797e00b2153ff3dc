/* stepped.c: a signal handler stores at each instruction of a transaction, one after another (stepping.h).
 */
#define _GNU_SOURCE /* gettid */
#include "core/thread.h"
#include "harness.h"
#include "heap/heap.h"
#include "log/log.h"
#include "simulation.h"
#include "sparse.h"
#include "stepping.h"
#include "store.h"
#include "type_tables.h"

#include <pthread.h>
#include <string.h>

enum { STORES = 120, WORDS = 16, LINES = 2, LINE_WORDS = 8, LARGE = 300000 };
enum { LINK_ID = 3391, LINKS = 2 << 20 >> 3 };

struct link {
  struct link *to;
};
static const struct nvm_field link_fields[] = {TEST_FIELD(link, to, NVM_FIELD_POINTER)};
static const struct nvm_type link_type = TEST_TYPE(LINK_ID, link, link_fields);
TEST_TYPES(described, &link_type);

static NVM_POOL *pool;
static struct {
  uint64_t *block, turn, other, outside, beside;
  struct link *links;
  uint64_t words[WORDS]; /* the handler's */
  uint64_t lines[LINES][LINE_WORDS];
  char others[NVM_LINE_SLOTS * NVM_LINE_SIZE - LINES * NVM_LINE_SIZE]; /* of other slots */
  uint64_t
      aliases[LINES]
             [LINE_WORDS]; /* the handler's, too: in the table they take the slots of `lines` */
} *root;
static uint64_t value;   /* that the handler stores */
static NVM_POOL *second; /* null: the handler stores to `pool` */
static uint64_t *pair;   /* in `second` */
static bool is_both;     /* to both pools */
static volatile int came;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The log's first segment would not take so many entries: the same bytes have one. */
static void store(int number) {
  (void)number;
  came++;
  if (second) {
    STORE(pair[0], value);
    STORE(pair[1], value);
    if (is_both)
      STORE(root->words[0], value);
    return;
  }
  for (int i = 0; i < STORES; i++) {
    note_store(root->words, sizeof root->words);
    for (unsigned k = 0; k < WORDS; k++)
      root->words[k] = value;
  }
  for (unsigned i = 0; i < LINES; i++)
    for (unsigned k = 0; k < LINE_WORDS; k++)
      STORE(root->aliases[i][k], value);
}

static bool all_are(uint64_t expected) {
  for (unsigned k = 0; k < WORDS; k++)
    if (root->words[k] != expected)
      return false;
  return true;
}

static void change(void) {
  uint64_t *block = nvm_alloc(pool, 0, 100 + value % 3 * 100);
  STORE(*block, value);
  nvm_free(root->block);
  STORE(root->block, block);
  STORE(root->turn, value);
}

/* The handler may come before the transaction, in it or behind it, while the words are read as well. */
static void abort_once(void) {
  uint64_t turn = root->turn, word = root->words[0];
  CHECK(nvm_tx_begin(pool) == 0);
  change();
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(root->turn == turn && (all_are(word) || came));
}

static void commit_once(void) {
  uint64_t word = root->words[0];
  CHECK(nvm_tx_begin(pool) == 0);
  change();
  CHECK(nvm_tx_commit(pool) == 0);
  bool has_come = came;
  CHECK(root->turn == value && (all_are(has_come ? value : word) || came != has_come));
}

/* Each word has a store of its own: those behind a line's first find it in the table. */
static void store_lines(void) {
  for (unsigned k = 0; k < LINE_WORDS; k++)
    for (unsigned i = 0; i < LINES; i++)
      STORE(root->lines[i][k], value);
}

static bool lines_are(uint64_t expected) {
  for (unsigned i = 0; i < LINES; i++)
    for (unsigned k = 0; k < LINE_WORDS; k++)
      if (root->lines[i][k] != expected)
        return false;
  return true;
}

static void store_once(void) {
  uint64_t before = root->lines[0][0];
  CHECK(nvm_tx_begin(pool) == 0);
  store_lines();
  CHECK(nvm_tx_abort(pool) == 0 && lines_are(before));
  CHECK(nvm_tx_begin(pool) == 0);
  store_lines();
  CHECK(nvm_tx_commit(pool) == 0);
}

/* The lock is released inside the transaction, and taken and released again outside of one. */
static void lock_once(void) {
  CHECK(nvm_tx_begin(pool) == 0 && pthread_mutex_lock(&lock) == 0);
  change();
  CHECK(pthread_mutex_unlock(&lock) == 0);
  STORE(root->other, value);
  CHECK(nvm_tx_commit(pool) == 0 && pthread_mutex_lock(&lock) == 0);
  STORE(root->outside, value);
  CHECK(pthread_mutex_unlock(&lock) == 0);
  CHECK(root->turn == value && root->other == value && root->outside == value);
}

/* A block of its own chunks: a run of them is found, or the pool grows, and the log too. */
static void grow_once(void) {
  uint64_t word = root->words[0];
  CHECK(nvm_tx_begin(pool) == 0);
  char *block = nvm_alloc(pool, 0, LARGE + value % 3 * LARGE);
  CHECK(block);
  store_bytes(block + LARGE / 2, root->words, sizeof root->words);
  nvm_free(block);
  change();
  CHECK(nvm_tx_commit(pool) == 0 && (all_are(word) || came));
}

/* The first reference to what lies far away: its counts need a table, which is made at the commit. */
static void count_once(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  change();
  STORE(root->links->to, &root->links[LINKS - 1]);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(root->turn == value && root->links->to == &root->links[LINKS - 1]);
}

/* The thread has no log before, and one behind it, whoever made it. */
static void store_first(void) {
  STORE(root->turn, value);
  unsigned logs = 0;
  for (unsigned i = 0; i < pool->log_count; i++)
    logs += pool->logs[i]->owner == nvmi_self;
  CHECK(logs == 1 && nvmi_self->logs[pool->index]->owner == nvmi_self);
}

/* The transaction knows nothing of the pool to which the handler stores. */
static void commit_beside(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->turn, value);
  CHECK(nvm_tx_commit(pool) == 0 && root->turn == value);
}

static void abort_beside(void) {
  uint64_t turn = root->turn;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->turn, value);
  CHECK(nvm_tx_abort(pool) == 0 && root->turn == turn);
}

/* The beginning commits what was stored to both pools outside of transactions. An abort behind it does not take
 * back a part of what the handler stored. */
static void commit_both(void) {
  STORE(root->turn, value);
  STORE(pair[2], value);
  CHECK(nvm_tx_begin(pool) == 0);
}

static void abort_behind(void) {
  STORE(root->turn, 0);
  STORE(pair[2], 0);
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(root->words[0] == pair[0] && pair[0] == pair[1]);
}

static void open_second(const char *path, bool has_stored) {
  second = test_open(path);
  pair = nvm_pool_root(second);
  CHECK(pair[0] == pair[1] && (!has_stored || pair[0] == value - 1));
}

/* Killed behind the transaction, and recovered. The thread has a log there before the handler comes. */
static void recover_second(bool has_stored) {
  CHECK(nvm_pool_close(second) == 0);
  open_second(test_path("killed"), has_stored);
  CHECK(nvm_pool_close(second) == 0);
  open_second(test_path("second"), has_stored);
  STORE(pair[2], value);
}

static void prepare_second(void) {
  second = test_create(test_path("second"), 1 << 20);
  CHECK(nvm_tx_begin(second) == 0);
  pair = nvm_calloc(second, 0, 1, 64);
  CHECK(pair && nvm_pool_set_root(second, pair) == 0 && nvm_tx_commit(second) == 0);
  sparse_copy(test_path("second"), test_path("killed"));
}

static void prepare_counts(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->links, nvm_calloc(pool, LINK_ID, LINKS, sizeof(struct link)));
  CHECK(root->links && nvm_tx_commit(pool) == 0 && nvm_pool_count_references(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  sparse_copy(test_path("pool"), test_path("start"));
  pool = test_open(test_path("pool"));
}

static pthread_t beside;
static volatile pid_t beside_id; /* 0: it has not stored */
static int gate[2];

static void *wait_beside(void *unused) {
  char byte;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->beside, value);
  CHECK(nvm_tx_commit(pool) == 0);
  beside_id = gettid();
  CHECK(read(gate[0], &byte, 1) == 1);
  return unused;
}

static bool sleeps(pid_t thread) {
  char path[60], line[100] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  FILE *file = fopen(path, "r");
  CHECK(file && fgets(line, sizeof line, file) && fclose(file) == 0);
  return strstr(line, ") S ");
}

/* A second thread has a log, so the locks of the first order transactions. It sleeps, and so meets no
 * breakpoint. */
static void store_beside(void) {
  beside_id = 0;
  CHECK(pthread_create(&beside, NULL, wait_beside, NULL) == 0);
  while (!beside_id || !sleeps(beside_id))
    usleep(100);
}

static void end_beside(void) {
  CHECK(write(gate[1], "", 1) == 1 && pthread_join(beside, NULL) == 0);
}

/* The pool is opened for each transaction: its log is short again. */
static void repeat(void (*once)(void)) {
  bool orders = once == lock_once, counts = once == count_once;
  is_both = once == commit_both;
  bool is_beside = once == commit_beside || once == abort_beside || is_both;
  bool changes = !is_beside && once != store_first;
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  commit_once();
  if (counts)
    prepare_counts();
  if (is_beside)
    prepare_second();
  signal(SIGUSR1, store);
  CHECK(pipe(gate) == 0);
  for (value++;; value++) {
    CHECK(nvm_pool_close(pool) == 0);
    if (counts)
      sparse_copy(test_path("start"), test_path("pool"));
    pool = test_open(test_path("pool"));
    root = nvm_pool_root(pool);
    if (orders)
      store_beside();
    if (is_beside)
      recover_second(came && once == commit_beside);
    CHECK((is_both || all_are(root->words[0])) && (!changes || *root->block == root->turn));
    CHECK(once != store_once || lines_are(value - 1));
    if (once == store_first && nvmi_self->logs[pool->index])
      nvmi_ready_detach(nvmi_self->logs[pool->index]);
    if (is_both)
      STORE(root->other, value); /* it has a log in both before the handler comes */
    came = 0;
    nvmi_self->handlers_store = false; /* else signals wait during commits */
    stop();
    once();
    stop();
    if (is_both)
      abort_behind();
    CHECK(came <= 1 && nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
    if (is_beside)
      sparse_copy(test_path("second"), test_path("killed"));
    if (orders)
      end_beside();
  }
}

static void (*once)(void);

static void repeat_once(void) { repeat(once); }

/* Short tests try every `step`th instruction. */
static void step_all(void (*work)(void), size_t step) {
  if (test_is_delayed())
    test_skip("the thread that syncs is not traced, and would meet the breakpoints");
  once = work;
  size_t count = test_is_long() ? step_through(repeat_once, 3, 1, 0)
                                : step_through(repeat_once, 1, step, test_seed());
  CHECK(count > 500);
}

TEST(stepped_store) { step_all(store_once, 5); }

TEST(stepped_abort) { step_all(abort_once, 17); }

TEST(stepped_commit) { step_all(commit_once, 17); }

TEST(stepped_lock) { step_all(lock_once, 17); }

TEST(stepped_growth) { step_all(grow_once, 17); }

TEST(stepped_count) { step_all(count_once, 17); }

TEST(stepped_first_store) { step_all(store_first, 3); }

TEST(stepped_commit_beside) { step_all(commit_beside, 7); }

TEST(stepped_commit_of_both) { step_all(commit_both, 7); }

TEST(stepped_abort_beside) { step_all(abort_beside, 7); }

/* What a handler stores between a commit and the comparison is no store that nobody noted. */
TEST_ONCE(stepped_comparison) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DEBUG", "compare", 1);
  step_all(commit_once, 17);
}
