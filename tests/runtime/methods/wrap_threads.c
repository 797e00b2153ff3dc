/* wrap_threads.c: wraps of several threads: locks held to the end, locks released inside of a wrap, wraps
 * that are undone or become one with another, and death in the middle of it. */
#include "handing.h"
#include "workload.h"

#include "nvmove/wrap.h"

#include <sys/wait.h>

enum { X, FAR = 8 * GAP, THREADS = 3, CELLS = 4 };

static uint64_t load(unsigned word) { return nvm_wrap_load64(&all.words[word]); }
static void put(unsigned word, uint64_t value) { nvm_wrap_store64(&all.words[word], value); }

static void open_wrap(void) { CHECK(nvm_wrap_open(all.pool) == 0); }
static void close_wrap(void) { CHECK(nvm_wrap_close(all.pool) == 0); }

/* Under the lock: what was there before. */
static uint64_t add(unsigned lock, unsigned word, uint64_t value) {
  pthread_mutex_lock(&all.lock[lock]);
  uint64_t known = load(word);
  put(word, known + value);
  pthread_mutex_unlock(&all.lock[lock]);
  return known;
}

/* The word as the file has it after a restart. */
static void check_words(uint64_t x, uint64_t far) {
  CHECK(nvm_pool_close(all.pool) == 0);
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
  CHECK(all.words[X] == x && all.words[FAR] == far);
  CHECK(nvm_pool_close(all.pool) == 0);
  test_check_pool(test_path("pool"));
}

static void *take_over(void *unused) {
  wait_for(1);
  open_wrap();
  CHECK(add(0, X, 10) == 1);
  uint64_t block[2];
  nvm_wrap_read(block, &all.words[X], sizeof block);
  CHECK(block[0] == 11);
  all.step = 2;
  wait_for(3);
  close_wrap();
  return unused;
}

/* Who acquires a lock that an open wrap has released sees what that has stored, and so does the first
 * when it acquires it again. */
TEST_WRAPPED(wrapped_handed_over) {
  prepare();
  pthread_t thread = start(take_over, NULL);
  open_wrap();
  CHECK(add(0, X, 1) == 0);
  all.step = 1;
  wait_for(2);
  CHECK(load(X) == 11 || load(X) == 1); /* not under the lock */
  all.step = 3;
  close_wrap();
  pthread_join(thread, NULL);
  CHECK(load(X) == 11);
  check_words(11, 0);
}

static void *take_over_and_back(void *unused) {
  wait_for(1);
  open_wrap();
  CHECK(add(0, X, 10) == 1);
  all.step = 2;
  close_wrap();
  return unused;
}

/* Each depends on the other: one record has both, in the order of the releases. */
TEST_WRAPPED(wrapped_cycle) {
  prepare();
  pthread_t thread = start(take_over_and_back, NULL);
  open_wrap();
  CHECK(add(0, X, 1) == 0);
  put(FAR, 7); /* under no lock that is released */
  all.step = 1;
  wait_for(2);
  CHECK(add(0, X, 100) == 11);
  CHECK(load(FAR) == 7);
  put(FAR, 8);
  close_wrap();
  pthread_join(thread, NULL);
  CHECK(load(X) == 111 && load(FAR) == 8);
  check_words(111, 8);
}

static void *depend(void *unused) {
  wait_for(1);
  open_wrap();
  CHECK(add(0, X, 10) == 5);
  put(FAR, 3);
  all.step = 2;
  wait_for(3);
  CHECK_FAILS(nvm_wrap_close(all.pool) == 0, NVM_EBROKEN);
  CHECK(load(X) == 0 && load(FAR) == 0);
  return unused;
}

TEST_WRAPPED(wrapped_undone_with_another) {
  prepare();
  pthread_t thread = start(depend, NULL);
  open_wrap();
  CHECK(add(0, X, 5) == 0);
  all.step = 1;
  wait_for(2);
  all.step = 3;
  CHECK(nvm_tx_abort(all.pool) == 0);
  pthread_join(thread, NULL);
  CHECK(load(X) == 0 && load(FAR) == 0);
  open_wrap();
  CHECK(add(0, X, 1) == 0);
  close_wrap();
  check_words(1, 0);
}

/* A block that is allocated, handed over, freed and allocated again in one wrap, which has so many stores
 * more. */
static void come_again(void *argument) {
  unsigned more = *(unsigned *)argument;
  prepare();
  open_wrap();
  uint64_t *block = nvm_alloc(all.pool, 0, 64), *again;
  CHECK(block != NULL);
  for (unsigned i = 0; i < 8; i++)
    nvm_wrap_store64(&block[i], 1000 + i);
  add(0, X, 1); /* released: the block's bytes are captured */
  for (unsigned i = 0; i < 8; i++)
    nvm_wrap_store64(&block[i], 2000 + i);
  add(0, X, 1);
  for (unsigned i = 0; i < 8; i++)
    nvm_wrap_store64(&block[i], 3000 + i);
  CHECK(nvm_free(block) == 0);
  CHECK((again = nvm_calloc(all.pool, 0, 1, 64)) == block);
  for (unsigned i = 0; i < 8; i++)
    CHECK(nvm_wrap_load64(&again[i]) == 0);
  nvm_wrap_store64(&again[3], 5);
  for (unsigned i = 0; i < more; i++)
    put(FAR + GAP * (1 + i), i);
  put(FAR, (uint64_t)(uintptr_t)again);
  close_wrap();
  for (unsigned i = 0; i < 8; i++)
    CHECK(again[i] == (i == 3 ? 5 : 0));
  CHECK(nvm_pool_close(all.pool) == 0);
}

static void check_block(bool is_there) {
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
  const uint64_t *block = all.words ? (const uint64_t *)(uintptr_t)all.words[FAR] : NULL;
  CHECK(block || !is_there);
  CHECK(!all.words ||
        (all.words[X] == (block ? 2 : 0) && test_blocks(all.pool) == (block ? 2 : 1)));
  for (unsigned i = 0; block && i < 8; i++)
    CHECK(block[i] == (i == 3 ? 5 : 0));
  CHECK(nvm_pool_close(all.pool) == 0);
  test_check_pool(test_path("pool"));
}

TEST_WRAPPED(wrapped_block_comes_again) {
  unsigned more[] = {0, 100}; /* one frame of the log, and several */
  for (unsigned i = 0; i < 2; i++)
    for (unsigned n = 1, killed = true; killed; n++) {
      char kill[64];
      snprintf(kill, sizeof kill, "commit:%u", n);
      int status = test_child(kill, come_again, &more[i]);
      killed = test_was_killed(status);
      CHECK(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
      check_block(!killed);
      unlink(test_path("pool"));
    }
}

/* What is captured is a whole line, other threads' bytes in it, too: ThreadSanitizer takes that for a race. */
#if __has_feature(thread_sanitizer)
#define SHARES_LINES _Alignas(64)
#else
#define SHARES_LINES
#endif

/* Cells that all threads add to, each under its lock, and of each thread what it has added itself: at all
 * times a cell is the sum of these. */
struct cell {
  SHARES_LINES uint64_t value, twice; /* two of these in a line, and with what else is there */
};
struct shared {
  uint64_t first; /* so that cells do not begin with lines */
  struct cell cells[CELLS];
  struct {
    SHARES_LINES uint64_t of[CELLS];
  } own[THREADS];
};
enum { ROUNDS = 60 };

static struct shared *shared(void) { return (struct shared *)all.words; }
static volatile uint64_t *acknowledged; /* of each thread: additions whose close has returned */
static bool releases_early;

static void add_to_cell(unsigned thread, unsigned c) {
  struct cell *cell = &shared()->cells[c], now;
  nvm_wrap_read(&now, cell, sizeof now);
  CHECK(now.twice == 2 * now.value);
  if (now.value % 3) {
    now.value++;
    now.twice += 2;
    nvm_wrap_write(cell, &now, sizeof now);
  } else {
    nvm_wrap_store64(&cell->value, now.value + 1);
    CHECK(nvm_wrap_load64(&cell->value) == now.value + 1);
    nvm_wrap_store64(&cell->twice, now.twice + 2);
  }
  uint64_t *own = &shared()->own[thread].of[c];
  nvm_wrap_store64(own, nvm_wrap_load64(own) + 1);
}

static void release(unsigned locked) {
  for (unsigned c = 0; c < CELLS; c++)
    if (locked >> c & 1)
      pthread_mutex_unlock(&all.lock[c]);
}

/* Locks in their order. Where locks are released early the first always is, before the next is taken: a
 * thread that has released none, and stands between two others, makes all wait (docs/reference/semantics.md).
 * Gives the additions, or 0 where all is undone. */
static unsigned wrap_some(unsigned thread, unsigned *seed) {
  unsigned additions = 0, locked = 0;
  open_wrap();
  for (unsigned c = 0; c < CELLS; c++) {
    if (rand_r(seed) % 2)
      continue;
    pthread_mutex_lock(&all.lock[c]);
    locked |= 1u << c;
    add_to_cell(thread, c);
    additions++;
    if (releases_early && (additions == 1 || rand_r(seed) % 3)) {
      pthread_mutex_unlock(&all.lock[c]);
      locked &= ~(1u << c);
    }
  }
  bool undone = rand_r(seed) % 8 == 0;
  if (undone)
    CHECK(nvm_tx_abort(all.pool) == 0);
  else if (nvm_wrap_close(all.pool) != 0) {
    CHECK(nvm_errno() == NVM_EBROKEN || nvm_errno() == NVM_EDEADLOCK);
    undone = true;
  }
  release(locked);
  return undone ? 0 : additions;
}

static void *work(void *argument) {
  unsigned thread = (unsigned)(uintptr_t)argument, seed = thread + 7 * (unsigned)test_seed();
  for (unsigned round = 0; round < ROUNDS; round++)
    acknowledged[thread] += wrap_some(thread, &seed);
  return NULL;
}

static void check_sums(bool all_acknowledged) {
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
  for (unsigned c = 0; all.words && c < CELLS; c++) {
    uint64_t sum = 0;
    for (unsigned thread = 0; thread < THREADS; thread++)
      sum += shared()->own[thread].of[c];
    CHECK(shared()->cells[c].value == sum && shared()->cells[c].twice == 2 * sum);
  }
  for (unsigned thread = 0; thread < THREADS; thread++) {
    uint64_t sum = 0;
    for (unsigned c = 0; all.words && c < CELLS; c++)
      sum += shared()->own[thread].of[c];
    CHECK(all_acknowledged ? sum == acknowledged[thread]
                           : sum >= acknowledged[thread] && sum - acknowledged[thread] <= CELLS);
  }
  CHECK(nvm_pool_close(all.pool) == 0);
  test_check_pool(test_path("pool"));
}

static void run_threads(void *unused) {
  pthread_t threads[THREADS];
  (void)unused;
  prepare();
  for (uintptr_t i = 0; i < THREADS; i++)
    threads[i] = start(work, (void *)i);
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static void run_once(bool early) {
  releases_early = early;
  acknowledged = &progress_new()->acknowledged;
  CHECK(test_child(NULL, run_threads, NULL) == 0);
  check_sums(true);
}

TEST_WRAPPED(wrapped_threads_run) { run_once(false); }
TEST_WRAPPED(wrapped_threads_run_early_releases) { run_once(true); }

static void kill_threads(bool early) {
  releases_early = early;
  unsigned stride = test_is_long() ? 7 : 41; /* odd: both kinds */
  for (unsigned n = 4;; n += stride) {
    char kill[64];
    snprintf(kill, sizeof kill, "%s:%u", n % 2 ? "commit" : "append", n);
    acknowledged = &progress_new()->acknowledged;
    int status = test_child(kill, run_threads, NULL);
    if (!test_was_killed(status)) {
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      break;
    }
    check_sums(false);
    unlink(test_path("pool"));
  }
}

TEST_WRAPPED(wrapped_threads_killed) { kill_threads(false); }
TEST_WRAPPED(wrapped_threads_killed_early_releases) { kill_threads(true); }
