/* disk.c: pools on an ordinary disk: the machine ends at any moment (sectors.h); syncs are shared; what is
 * stored in place waits; one that fails ends the process.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "platform/sync.h"
#include "sectors.h"
#include "simulation.h"
#include "store.h"
#include "workload.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, EACH = 50 };

/* The machine ends in a workload, and again while what is left is opened. */
struct work {
  const char *path;
  struct progress *progress;
};

static void run_workload(const void *argument) {
  const struct work *work = argument;
  workload_run(work->path, work->progress, 16);
}

static void ends_anywhere(const char *method) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", method, 1);
  const char *start = test_path("start");
  struct progress *progress = progress_new();
  workload_run(start, progress, 4);
  struct work work = {test_path("pool"), progress}, again = {test_path("again"), progress};
  struct sectors_end first = {.path = work.path,
                              .image = test_path("image"),
                              .at = 1,
                              .seed = 1 + test_seed(),
                              .run = run_workload,
                              .argument = &work};
  struct sectors_end second = {
      .path = again.path, .image = test_path("image2"), .run = run_workload, .argument = &again};
  uint64_t states = 0, stride = test_is_long() ? 400 : 6;
  for (;; first.at += 1 + first.at / stride, first.seed += 7) {
    progress->acknowledged = 4;
    if (!sectors_end_machine(&first, start))
      break;
    workload_verify(first.image, progress);
    states++;
    uint64_t known = progress->acknowledged;
    for (second.at = 1 + first.seed % 3; second.at < 40; second.at += test_is_long() ? 5 : 13) {
      second.seed = first.seed + second.at;
      progress->acknowledged = known;
      progress->interrupted++;
      if (!sectors_end_machine(&second, first.image))
        break;
      workload_verify(second.image, progress);
      states++;
    }
    progress->interrupted = 0;
  }
  CHECK(states > (test_is_long() ? 100 : 20));
}

/* The n-th transaction of a thread writes n to one of its many lines: records that told of most lines
 * are overwritten long since, while the log became longer and turned. */
enum { LINES = 12000, LINE = 64 };

struct circles {
  const char *path;
  unsigned threads;
  struct progress *progress; /* of each */
};

struct circle {
  char *lines;
  uint64_t count, end;
  struct progress *progress;
};

static void *write_circle(void *argument) {
  const struct circle *c = argument;
  NVM_POOL *pool = nvm_pool_of(c->lines);
  for (uint64_t n = 1; n < c->end; n++) {
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(*(uint64_t *)(c->lines + n % c->count * LINE), n);
    CHECK(nvm_tx_commit(pool) == 0);
    c->progress->acknowledged = n;
  }
  return NULL;
}

static struct circle circle_of(const struct circles *all, NVM_POOL *pool, unsigned i) {
  uint64_t count = LINES / all->threads;
  return (struct circle){(char *)nvm_pool_root(pool) + i * count * LINE, count, 3 * count,
                         &all->progress[i]};
}

static void write_in_circles(const void *argument) {
  const struct circles *all = argument;
  NVM_POOL *pool = test_open(all->path);
  struct circle circles[THREADS];
  pthread_t threads[THREADS];
  for (unsigned i = 0; i < all->threads; i++) {
    circles[i] = circle_of(all, pool, i);
    CHECK(pthread_create(&threads[i], NULL, write_circle, &circles[i]) == 0);
  }
  for (unsigned i = 0; i < all->threads; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify_circles(const struct circles *all, const char *image) {
  NVM_POOL *pool = test_open(image);
  for (unsigned i = 0; i < all->threads; i++) {
    struct circle c = circle_of(all, pool, i);
    uint64_t last = c.progress->acknowledged;
    for (uint64_t at = 0; at < c.count; at++) {
      uint64_t there = *(const uint64_t *)(c.lines + at * LINE);
      uint64_t due = last < at ? 0 : last - (last - at) % c.count;
      CHECK(there == due || (there == last + 1 && there % c.count == at));
    }
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static void ends_long_after_a_commit(unsigned threads) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  NVM_POOL *pool = test_create(test_path("start"), 8 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  void *lines = nvm_calloc(pool, 0, LINES, LINE);
  CHECK(nvm_pool_set_root(pool, lines) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  struct progress *progress = mmap(NULL, THREADS * sizeof *progress, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct circles circles = {test_path("pool"), threads, progress};
  struct sectors_end end = {.path = circles.path,
                            .image = test_path("image"),
                            .at = 300,
                            .seed = 1 + test_seed(),
                            .run = write_in_circles,
                            .argument = &circles};
  uint64_t states = 0, step = test_is_long() ? 12 : 1;
  for (; sectors_end_machine(&end, test_path("start")); end.at += end.at / step, end.seed += 7) {
    verify_circles(&circles, end.image);
    end.stride = ++states % 3 ? UINT32_MAX : 1000;
    memset(progress, 0, THREADS * sizeof *progress);
  }
  CHECK(states > (test_is_long() ? 40 : 3));
}

TEST_ONCE(disk_ends_long_after_a_commit) { ends_long_after_a_commit(1); }

TEST_ONCE(disk_ends_long_after_commits_of_threads) { ends_long_after_a_commit(3); }

TEST_ONCE(disk_ends_anywhere_undo) { ends_anywhere("undo"); }

TEST_ONCE(disk_ends_anywhere_shadow) { ends_anywhere("shadow"); }

static NVM_POOL *pool_on_disk(uint64_t **words) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  NVM_POOL *pool = test_create(test_path("pool"), 8 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  *words = nvm_calloc(pool, 0, THREADS, 64);
  CHECK(nvm_pool_set_root(pool, *words) == 0 && nvm_tx_commit(pool) == 0);
  return pool;
}

static void *write_often(void *word) {
  for (uint64_t i = 0; i < EACH; i++) {
    NVM_POOL *pool = nvm_pool_of(word);
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(*(uint64_t *)word, *(uint64_t *)word + 1);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  return NULL;
}

/* One for a commit; and no sync without one. */
TEST_ONCE(disk_syncs_once_for_a_commit) {
  uint64_t *words;
  NVM_POOL *pool = pool_on_disk(&words);
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0 && info.domain == NVM_DOMAIN_DISK &&
        strcmp(info.method, "shadow") == 0);
  write_often(words);
  uint64_t before = nvmi_sync_count(false);
  write_often(words);
  CHECK(nvmi_sync_count(false) - before == EACH);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvmi_sync_count(false) - before == EACH);
  CHECK(nvm_pool_close(pool) == 0);
}

/* What is stored in place waits for the log's switch. */
TEST_ONCE(disk_syncs_records_alone) {
  uint64_t *words;
  NVM_POOL *pool = pool_on_disk(&words);
  enum { TIMES = 200 }; /* so many EACH fill each bank of 128 KiB more than once */
  uint64_t syncs, whole;
  for (int round = 0; round < 2; round++) { /* in the first the log becomes longer */
    syncs = nvmi_sync_count(false), whole = nvmi_sync_count(true);
    for (int i = 0; i < TIMES; i++)
      write_often(words);
    syncs = nvmi_sync_count(false) - syncs;
    whole = nvmi_sync_count(true) - whole;
  }
  CHECK(syncs >= TIMES * EACH && whole >= 2 && whole <= 12);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Threads that commit while a sync runs share the next one. */
TEST_ONCE(disk_syncs_are_shared) {
  uint64_t *words;
  NVM_POOL *pool = pool_on_disk(&words);
  pthread_t threads[THREADS];
  sectors_delay = 2000;
  uint64_t before = nvmi_sync_count(false);
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, write_often, words + i * 8) == 0);
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nvmi_sync_count(false) - before < THREADS * EACH * 3 / 4);
  for (int i = 0; i < THREADS; i++)
    CHECK(words[i * 8] == EACH);
  CHECK(nvm_pool_close(pool) == 0);
}

static void leave(enum nvm_error code, const char *text) {
  CHECK(code == NVM_ESYSTEM && strstr(text, "the disk has not taken"));
  exit(3); /* which would close the pool */
}

static void fail_to_sync(void *handler) {
  uint64_t *words;
  pool_on_disk(&words);
  if (handler)
    nvm_set_fatal_handler(leave);
  write_often(words);
  sectors_failing = 1;
  write_often(words + 8);
}

/* What was acknowledged before is there; what was not is not called clean. */
static void fails_to_sync(void *handler, int status_wanted) {
  char said[1000];
  int status = test_child_says(fail_to_sync, handler, said, sizeof said);
  CHECK(status == status_wanted && strstr(said, "the disk has not taken what was written"));
  NVM_POOL *pool = test_open(test_path("pool"));
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 1);
  const uint64_t *words = nvm_pool_root(pool);
  CHECK(words[0] == EACH && words[8] <= 1);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(disk_that_fails_ends_the_process) { fails_to_sync(NULL, SIGABRT); }

TEST_ONCE(disk_that_fails_is_not_asked_again) { fails_to_sync("handler", SIGABRT); }

/* It has neither the mapping nor anything to bring to the disk, and may open another pool. */
static void use_another(void *path) {
  uint64_t *words;
  NVM_POOL *pool = pool_on_disk(&words);
  write_often(words);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[0], 1);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    NVM_POOL *other = test_create(path, 8 << 20);
    CHECK(nvm_tx_begin(other) == 0);
    uint64_t *word = nvm_calloc(other, 0, 1, sizeof *word);
    CHECK(nvm_pool_set_root(other, word) == 0 && nvm_tx_commit(other) == 0);
    exit(nvm_pool_close(other) == 0 ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

TEST_ONCE(disk_beside_a_child) {
  CHECK(test_child(NULL, use_another, (void *)(uintptr_t)test_path("other")) == 0);
  test_check_pool(test_path("other"));
}

/* What the thread stored in place last, behind its commit, the close has brought to the disk. */
static pthread_barrier_t closed;
static NVM_POOL *other_pool;

static void *outlive(void *words) {
  write_often(words);
  pthread_barrier_wait(&closed);
  pthread_barrier_wait(&closed);
  write_often((uint64_t *)nvm_pool_root(other_pool) + 8);
  return NULL;
}

TEST_ONCE(disk_thread_outlives_a_pool) {
  uint64_t *words, *other;
  pthread_t thread;
  NVM_POOL *pool = pool_on_disk(&words);
  CHECK(pthread_barrier_init(&closed, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, outlive, words) == 0);
  pthread_barrier_wait(&closed);
  CHECK(rename(test_path("pool"), test_path("first")) == 0);
  other_pool = pool_on_disk(&other); /* so it has another number */
  CHECK(nvm_pool_close(pool) == 0);
  pthread_barrier_wait(&closed);
  CHECK(pthread_join(thread, NULL) == 0 && other[8] == EACH);
  CHECK(nvm_pool_close(other_pool) == 0);
  test_check_pool(test_path("first"));
}
