/* log_ended.c: what an open transaction of the undo method proves of its log: all of its entries but the last,
 * and the record of the transaction before it (runtime/log/log_end.c, runtime/pool/recover.c).
 */
#include "format/layout.h"
#include "harness.h"
#include "store.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 4, GAP = 16, LINE = 64, MANY = 66000, NUMBER = 16 };

static bool is_undo(void) { return strcmp(getenv("NVMOVE_METHOD"), "undo") == 0; }

static uint64_t *fill(NVM_POOL *pool, size_t count) {
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, count, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  return words;
}

/* Transactions with a store each, of which `open` more is begun at the end. */
struct plan {
  unsigned committed;
  bool allocates, aborts, open;
};

static void follow(void *context) {
  const struct plan *plan = context;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  uint64_t *words = fill(pool, WORDS * GAP);
  for (unsigned i = 0; i < plan->committed + plan->open; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    if (!plan->allocates || i == plan->committed)
      STORE(words[GAP * i], i + 1);
    else
      CHECK(nvm_alloc(pool, 0, 100) != NULL);
    if (i < plan->committed && plan->aborts && i + 1 == plan->committed)
      CHECK(nvm_tx_abort(pool) == 0);
    else if (i < plan->committed)
      CHECK(nvm_tx_commit(pool) == 0);
  }
  raise(SIGKILL);
}

/* Calls `visit` with the place of each frame that looks like one of this transaction. */
typedef void visit_frame(int fd, off_t at, const struct nvm_frame *frame, void *context);
static void each_frame(uint64_t number, visit_frame *visit, void *context) {
  struct nvm_frame frame;
  int fd = open(test_path("pool"), O_RDWR);
  CHECK(fd >= 0);
  for (off_t at = 1 << 16; pread(fd, &frame, sizeof frame, at) == sizeof frame; at += LINE)
    if (frame.check && frame.transaction >> NUMBER == number &&
        NVM_FRAME_KIND(&frame) >= NVM_FRAME_UNDO && NVM_FRAME_KIND(&frame) <= NVM_FRAME_RETIRED)
      visit(fd, at, &frame, context);
  close(fd);
}

static void flip(int fd, off_t at) {
  uint8_t byte;
  at += offsetof(struct nvm_frame, order);
  CHECK(pread(fd, &byte, 1, at) == 1);
  byte ^= 1;
  CHECK(pwrite(fd, &byte, 1, at) == 1);
}

static void flip_record(int fd, off_t at, const struct nvm_frame *frame, void *found) {
  unsigned kind = NVM_FRAME_KIND(frame);
  if (kind != NVM_FRAME_COMMIT && kind != NVM_FRAME_COMMIT_CHECKED)
    return;
  flip(fd, at);
  ++*(unsigned *)found;
}

/* Kills, and damages the record of the transaction with this number; fill has number 1. */
static void lose_record(const struct plan *plan, uint64_t number) {
  unsigned found = 0;
  unlink(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, follow, (void *)plan)));
  each_frame(number, flip_record, &found);
  CHECK(found == 1);
}

/* It told a bound, and had operations: records of other threads would be replayed over newer ones. */
TEST(log_record_before_an_open_transaction_is_missed) {
  const struct plan plans[] = {{.committed = 1, .open = true},
                               {.committed = 2, .open = true},
                               {.committed = 2, .allocates = true, .open = true},
                               {.committed = 2, .aborts = true, .open = true}};
  for (unsigned i = 0; is_undo() && i < sizeof plans / sizeof *plans; i++) {
    lose_record(&plans[i], plans[i].committed + 1);
    CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
  }
}

/* A frame of the transaction after the next may have torn it: the next one had ended then. */
TEST(log_record_before_an_ended_transaction_is_not_needed) {
  if (!is_undo())
    return;
  lose_record(&(struct plan){.committed = 3}, 3);
  NVM_POOL *pool = test_open(test_path("pool"));
  const uint64_t *words = nvm_pool_root(pool);
  for (unsigned i = 0; i < 3; i++)
    CHECK(words[GAP * i] == i + 1);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The first transaction of an opening follows none. */
static void open_and_store(void *unused) {
  (void)unused;
  uint64_t *words = nvm_pool_root(test_open(test_path("pool")));
  CHECK(nvm_tx_begin(nvm_pool_of(words)) == 0);
  STORE(words[0], 77);
  raise(SIGKILL);
}

TEST(log_first_transaction_follows_none) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  fill(pool, WORDS * GAP);
  CHECK(nvm_pool_close(pool) == 0);
  for (unsigned i = 0; i < 3; i++) {
    CHECK(test_was_killed(test_child(NULL, open_and_store, NULL)));
    pool = test_open(test_path("pool"));
    CHECK(*(uint64_t *)nvm_pool_root(pool) == 0);
    CHECK(nvm_pool_close(pool) == 0);
  }
}

static uint64_t *shared;
static void *store_once(void *unused) {
  NVM_POOL *pool = nvm_pool_of(shared);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(shared[0], 1);
  CHECK(nvm_tx_commit(pool) == 0);
  return unused;
}

static void store_behind_a_thread(void *unused) {
  (void)unused;
  pthread_t thread;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  shared = fill(pool, WORDS * GAP);
  CHECK(pthread_create(&thread, NULL, store_once, NULL) == 0 && pthread_join(thread, NULL) == 0);
  for (unsigned i = 2; i < 10; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(shared[0], i);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  raise(SIGKILL);
}

/* Flips a bit in the record of the thread that has ended: there are two of number 1, and fill's is older. */
static void flip_younger(int fd, off_t at, const struct nvm_frame *frame, void *order) {
  if (frame->order == *(uint64_t *)order)
    flip(fd, at);
}

static void find_younger(int fd, off_t at, const struct nvm_frame *frame, void *order) {
  (void)fd, (void)at;
  unsigned kind = NVM_FRAME_KIND(frame);
  bool is_record = kind == NVM_FRAME_COMMIT || kind == NVM_FRAME_COMMIT_CHECKED;
  if (is_record && frame->order > *(uint64_t *)order)
    *(uint64_t *)order = frame->order;
}

/* With undo it would be undone: an old value over those that others have stored since. With shadow it is the end of
 * its log no more, and a record that is missing before the end is noticed. */
TEST(log_last_record_of_a_thread_that_has_ended) {
  uint64_t order = 0;
  if (!is_undo() && strcmp(getenv("NVMOVE_DOMAIN"), "disk") == 0)
    return; /* there it is the end */
  CHECK(test_was_killed(test_child(NULL, store_behind_a_thread, NULL)));
  each_frame(1, find_younger, &order);
  CHECK(order);
  each_frame(1, flip_younger, &order);
  if (!is_undo()) {
    CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
    return;
  }
  NVM_POOL *pool = test_open(test_path("pool"));
  CHECK(*(uint64_t *)nvm_pool_root(pool) == 9);
  CHECK(nvm_pool_close(pool) == 0);
}

static int told[2];
static void tell(void) { CHECK(write(told[1], "", 1) == 1); }

/* The last thread of the child ends: then the process does, and says so. */
static void *end_in_child(void *unused) {
  char byte;
  store_once(unused);
  CHECK(pipe(told) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    CHECK(atexit(tell) == 0);
    pthread_exit(NULL);
  }
  close(told[1]);
  CHECK(read(told[0], &byte, 1) == 1 && waitpid(child, NULL, 0) == child);
  close(told[0]);
  return NULL;
}

/* A forked child has no mapping of the pool, into which its thread's end would write. */
TEST(log_of_a_thread_that_ends_in_a_forked_child) {
  pthread_t thread;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  shared = fill(pool, WORDS * GAP);
  CHECK(pthread_create(&thread, NULL, end_in_child, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && shared[0] == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

static void store_many(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_create(test_path("pool"), 16 << 20);
  uint64_t *words = fill(pool, MANY);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < MANY; i++)
    STORE(words[i], i + 1);
  raise(SIGKILL);
}

struct late {
  unsigned entries, flipped;
};

static void flip_late(int fd, off_t at, const struct nvm_frame *frame, void *context) {
  struct late *late = context;
  if (NVM_FRAME_KIND(frame) != NVM_FRAME_UNDO || late->flipped || ++late->entries < MANY - 100)
    return;
  flip(fd, at);
  late->flipped++;
}

/* More entries than a frame's 16 bits count. */
TEST(log_hole_behind_many_entries) {
  struct late late = {0};
  if (!is_undo())
    return;
  CHECK(test_was_killed(test_child(NULL, store_many, NULL)));
  each_frame(2, flip_late, &late);
  CHECK(late.flipped);
  CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
}
