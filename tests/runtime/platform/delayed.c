/* delayed.c: pools on an ordinary disk whose commits do not wait (NVMOVE_DURABLE): whenever the machine
 * ends, what is left is the beginning of what was committed, and all that a sync has covered.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "sectors.h"
#include "simulation.h"
#include "sparse.h"
#include "store.h"
#include "workload.h"

#include "platform/sync.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void delay(const char *durable) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DURABLE", durable, 1);
}

/* Shared with the processes that end: how much must be there. */
struct known {
  volatile uint64_t durable;
};
static struct known *known;

enum { SYNC_EACH = 5 };

/* Every fifth transaction is waited for. */
static void sync_some(NVM_POOL *pool, uint64_t t) {
  if (t % SYNC_EACH)
    return;
  CHECK(nvm_pool_sync(pool) == 0);
  known->durable = t;
}

struct work {
  const char *path;
  struct progress *progress;
  uint64_t end;
};

static void run_workload(const void *argument) {
  const struct work *work = argument;
  workload_committed = sync_some;
  workload_run(work->path, work->progress, work->end);
}

/* Of t transactions at least those are there that were durable. Gives how many are. */
static uint64_t verify(const char *image, const struct progress *progress, uint64_t durable) {
  struct progress bounds = {.acknowledged = durable,
                            .interrupted =
                                progress->interrupted + progress->acknowledged - durable};
  return workload_verify(image, &bounds);
}

static struct known *shared_known(void) {
  struct known *shared =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  return shared;
}

/* The machine ends in a workload, and again while what is left is opened. */
static void ends_anywhere(const char *durable) {
  enum { FIRST = 4, END = 60 };
  delay(durable);
  known = shared_known();
  const char *start = test_path("start");
  struct progress *progress = progress_new();
  workload_run(start, progress, FIRST);
  struct work work = {test_path("pool"), progress, END},
              again = {test_path("again"), progress, END};
  struct sectors_end first = {.path = work.path,
                              .image = test_path("image"),
                              .at = 1,
                              .seed = 1 + test_seed(),
                              .run = run_workload,
                              .argument = &work};
  struct sectors_end second = {
      .path = again.path, .image = test_path("image2"), .run = run_workload, .argument = &again};
  uint64_t states = 0, lost = 0, stride = test_is_long() ? 40 : 8;
  for (;; first.at += 1 + first.at / stride, first.seed += 7) {
    first.stride = first.seed % 3 ? 0 : UINT32_MAX; /* the kernel writes often, or nothing */
    progress->acknowledged = known->durable = FIRST;
    progress->interrupted = 0;
    if (!sectors_end_machine(&first, start))
      break;
    uint64_t committed = progress->acknowledged, there;
    sparse_copy(first.image, test_path("left"));
    there = verify(first.image, progress, known->durable);
    lost += there < committed;
    states++;
    for (second.at = 1 + first.seed % 3; second.at < 40; second.at += test_is_long() ? 5 : 13) {
      second.seed = first.seed + second.at;
      second.stride = first.stride;
      progress->acknowledged = known->durable = there;
      progress->interrupted = 1;
      if (!sectors_end_machine(&second, test_path("left")))
        break;
      verify(second.image, progress, known->durable);
      states++;
    }
  }
  CHECK(states > (test_is_long() ? 100 : 20));
  CHECK(lost > (test_is_long() ? 5 : 2)); /* or the machine has not ended where it should */
}

TEST_ONCE(delayed_ends_anywhere_never) { ends_anywhere("never"); }

TEST_ONCE(delayed_ends_anywhere_ms) { ends_anywhere("1"); }

/* Several threads. Each transaction takes the next ticket, under a lock, and writes it to a line of its
 * thread's: whatever the number of tickets in the file, all lower ones are where their threads put them. */
enum { THREADS = 3, LINES = 4000, LINE = 64, TICKETS = 30000, SYNC_TICKETS = 700 };

struct tickets {
  _Alignas(64) uint64_t count;
  struct {
    _Alignas(64) uint64_t ticket;
  } lines[THREADS][LINES];
};

static pthread_mutex_t tickets_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tickets *tickets;

/* A thread's line of a ticket: which threads took which is not known. */
static void *take_tickets(void *argument) {
  NVM_POOL *pool = nvm_pool_of(tickets);
  uint64_t ticket = 0;
  for (unsigned thread = (unsigned)(uintptr_t)argument; ticket < TICKETS;) {
    pthread_mutex_lock(&tickets_lock);
    CHECK(nvm_tx_begin(pool) == 0);
    ticket = tickets->count + 1;
    STORE(tickets->count, ticket);
    STORE(tickets->lines[thread][ticket % LINES].ticket, ticket);
    CHECK(nvm_tx_commit(pool) == 0);
    pthread_mutex_unlock(&tickets_lock);
    if (ticket % SYNC_TICKETS == 0) {
      CHECK(nvm_pool_sync(pool) == 0);
      uint64_t before = known->durable;
      while (before < ticket &&
             !__atomic_compare_exchange_n(&known->durable, &before, ticket, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST))
        ;
    }
  }
  return NULL;
}

static void run_tickets(const void *path) {
  NVM_POOL *pool = test_open(path);
  pthread_t threads[THREADS];
  tickets = nvm_pool_root(pool);
  for (uintptr_t i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, take_tickets, (void *)i) == 0);
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Of each ticket that was not overwritten since: some thread has it, and none has a higher one. */
static uint64_t verify_tickets(const char *image) {
  NVM_POOL *pool = test_open(image);
  const struct tickets *left = nvm_pool_root(pool);
  uint64_t count = left->count;
  CHECK(count >= known->durable);
  for (uint64_t line = 0; line < LINES; line++) {
    uint64_t due = count < line ? 0 : count - (count - line) % LINES, highest = 0;
    for (unsigned i = 0; i < THREADS; i++)
      if (left->lines[i][line].ticket > highest)
        highest = left->lines[i][line].ticket;
    CHECK(highest == due);
  }
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(image);
  return count;
}

static void ends_among_threads(const char *durable) {
  delay(durable);
  known = shared_known();
  NVM_POOL *pool = test_create(test_path("start"), 8 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  void *root = nvm_calloc(pool, 0, 1, sizeof(struct tickets));
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  struct sectors_end end = {.path = test_path("pool"),
                            .image = test_path("image"),
                            .at = 50,
                            .seed = 1 + test_seed(),
                            .run = run_tickets,
                            .argument = test_path("pool")};
  uint64_t states = 0, step = test_is_long() ? 12 : 2;
  for (; sectors_end_machine(&end, test_path("start")); end.at += end.at / step, end.seed += 7) {
    verify_tickets(end.image);
    end.stride = ++states % 3 ? 500 : UINT32_MAX;
    known->durable = 0;
  }
  CHECK(states > (test_is_long() ? 40 : 6));
}

TEST_ONCE(delayed_ends_among_threads_never) { ends_among_threads("never"); }

TEST_ONCE(delayed_ends_among_threads_ms) { ends_among_threads("1"); }

/* The root changes with each transaction: its page is the program's, and the header's neighbour. Each
 * root leads to a word that says which it is. A replay stores what was in place too early once more: so
 * what shows is the first root, whose record nobody waits for, behind another commit. */
enum { ROOTS = 6, SEEDS = 8 };

struct numbered_root {
  uint64_t number, *last;
};

static void change_roots(const void *path) {
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_tx_begin(pool) == 0);
  void *block = nvm_alloc(pool, 0, sizeof(struct numbered_root));
  CHECK(block && nvm_tx_commit(pool) == 0 && nvm_pool_sync(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_free(block) == 0 && nvm_tx_commit(pool) == 0);
  for (uint64_t t = 1; t <= ROOTS; t++) {
    CHECK(nvm_tx_begin(pool) == 0);
    struct numbered_root *next = nvm_calloc(pool, 0, 1, sizeof *next), *old = nvm_pool_root(pool);
    STORE(next->number, t);
    STORE(next->last, old ? old->last : nvm_calloc(pool, 0, 1, sizeof *next->last));
    STORE(*next->last, t);
    CHECK(nvm_pool_set_root(pool, next) == 0 && nvm_free(old) == 0 && nvm_tx_commit(pool) == 0);
    sync_some(pool, t);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(delayed_ends_while_roots_change) {
  delay("never");
  known = shared_known();
  CHECK(nvm_pool_close(test_create(test_path("start"), 1 << 20)) == 0);
  struct sectors_end end = {.path = test_path("pool"),
                            .image = test_path("image"),
                            .at = 1,
                            .seed = 1 + test_seed(),
                            .run = change_roots,
                            .argument = test_path("pool")};
  unsigned states = 0, seeds = test_is_long() ? 8 * SEEDS : SEEDS / 2;
  for (; sectors_end_machine(&end, test_path("start")); end.at += ++states % seeds == 0) {
    end.seed += 7;
    NVM_POOL *pool = test_open(end.image);
    const struct numbered_root *root = nvm_pool_root(pool);
    CHECK((root ? root->number : 0) >= known->durable &&
          (root ? test_blocks(pool) == 2 : test_blocks(pool) < 2));
    CHECK(!root || root->number == *root->last);
    CHECK(nvm_pool_close(pool) == 0);
    test_check_pool(end.image);
    known->durable = 0;
  }
  CHECK(states > 10);
}
