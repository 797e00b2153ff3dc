/* disk_left.c: pools on an ordinary disk: what a process leaves behind in the page cache, and not on
 * the disk, the next one relies on; nor does a pool that is left at exit, grows, or is closed lose
 * anything.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "platform/sync.h"
#include "pool/close.h"
#include "pool/pool.h"
#include "sectors.h"
#include "simulation.h"
#include "sparse.h"
#include "store.h"
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct work {
  const char *path;
  struct progress *progress;
  uint64_t end, fails; /* the last transaction; the sync that fails, 0: none */
};

static void run_workload(const void *argument) {
  const struct work *work = argument;
  workload_run(work->path, work->progress, work->end);
}

/* A pool was used without the domain, and closed: all of it is in the page cache, some of it on the
 * disk. */
TEST_ONCE(disk_after_another_domain) {
  struct progress *progress = progress_new();
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "disk", 1);
  const char *durable = test_path("durable"), *used = test_path("used");
  workload_run(durable, progress, 4);
  sparse_copy(durable, used);
  setenv("NVMOVE_DOMAIN", "process", 1);
  workload_run(used, progress, 8);
  setenv("NVMOVE_DOMAIN", "disk", 1);
  struct work work = {test_path("pool"), progress, 10, 0};
  struct sectors_end end = {.path = work.path,
                            .image = test_path("image"),
                            .at = 1,
                            .durable = durable,
                            .from_sync = true,
                            .run = run_workload,
                            .argument = &work};
  unsigned states = 0;
  for (;; end.at++, end.seed += 7) {
    progress->acknowledged = 8;
    if (!sectors_end_machine(&end, used))
      break;
    workload_verify(end.image, progress);
    states++;
  }
  CHECK(states > 10);
}

/* A process is killed; the next one finds its stores in the page cache; then the machine ends. */
TEST_ONCE(disk_after_a_kill) {
  struct progress *progress = progress_new();
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "disk", 1);
  const char *start = test_path("start");
  workload_run(start, progress, 1);
  struct work work = {test_path("pool"), progress, 6, 0},
              again = {test_path("again"), progress, 9, 0};
  struct sectors_end kill = {.path = work.path,
                             .image = test_path("durable"),
                             .at = 1,
                             .run = run_workload,
                             .argument = &work};
  struct sectors_end end = {.path = again.path,
                            .image = test_path("image"),
                            .durable = kill.image,
                            .run = run_workload,
                            .argument = &again};
  unsigned states = 0, stride = test_is_long() ? 1 : 3;
  kill.stride = end.stride = UINT32_MAX; /* nothing is written that nobody asks for */
  for (;; kill.at += stride) {
    progress->acknowledged = 1;
    progress->interrupted = 0;
    if (!sectors_end_machine(&kill, start))
      break;
    uint64_t known = progress->acknowledged;
    progress->interrupted = 1;
    for (end.at = 1; end.at < 30; end.at += stride, states++) {
      end.seed = kill.at + end.at;
      progress->acknowledged = known;
      if (!sectors_end_machine(&end, kill.path))
        break;
      workload_verify(end.image, progress);
    }
  }
  CHECK(states > 50);
}

enum { WORDS = 64 };

static NVM_POOL *pool_of_words(uint64_t **words) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "disk", 1);
  NVM_POOL *pool = test_create(test_path("pool"), 8 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  *words = nvm_calloc(pool, 0, WORDS, 64);
  CHECK(nvm_pool_set_root(pool, *words) == 0 && nvm_tx_commit(pool) == 0);
  return pool;
}

static void write_words(uint64_t *words) {
  NVM_POOL *pool = nvm_pool_of(words);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(words[8 * i], i + 1);
  CHECK(nvm_tx_commit(pool) == 0);
}

static pthread_t leaving, writer;
static uint64_t *all_words;

static void *write_and_end(void *unused) {
  (void)unused;
  write_words(all_words);
  return NULL;
}

static void wait_for_writer(int signal) {
  (void)signal;
  CHECK(pthread_join(writer, NULL) == 0);
}

/* The signal comes when the sync is over: signals wait meanwhile. */
static void begin_in_sync(void) {
  if (!pthread_equal(pthread_self(), leaving))
    return;
  sectors_in_sync = NULL;
  CHECK(pthread_create(&writer, NULL, write_and_end, NULL) == 0);
  CHECK(pthread_kill(leaving, SIGUSR1) == 0);
}

static void leave_beside_a_writer(const void *path) {
  NVM_POOL *pool = test_open(path);
  all_words = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(all_words[1], 1);
  CHECK(nvm_tx_commit(pool) == 0);
  leaving = pthread_self();
  signal(SIGUSR1, wait_for_writer);
  sectors_in_sync = begin_in_sync;
  nvmi_pool_leave(pool); /* as exit does */
  CHECK(!sectors_in_sync);
  sectors_write_image();
  _exit(0);
}

/* While a process exits another thread commits, and ends. */
TEST_ONCE(disk_left_beside_a_writer) {
  uint64_t *words;
  CHECK(nvm_pool_close(pool_of_words(&words)) == 0);
  struct sectors_end end = {.path = test_path("other"),
                            .image = test_path("image"),
                            .at = UINT64_MAX,
                            .stride = UINT32_MAX,
                            .run = leave_beside_a_writer,
                            .argument = test_path("other")};
  CHECK(!sectors_end_machine(&end, test_path("pool")));
  NVM_POOL *pool = test_open(test_path("image"));
  words = nvm_pool_root(pool);
  for (unsigned i = 0; i < WORDS; i++)
    CHECK(words[8 * i] == i + 1);
  CHECK(nvm_pool_close(pool) == 0);
}

static void fail_to_grow(void *unused) {
  (void)unused;
  uint64_t *words;
  CHECK(nvm_pool_close(pool_of_words(&words)) == 0);
  NVM_POOL *pool = test_open(test_path("pool"));
  sectors_failing = 1;
  CHECK(nvm_pool_resize(pool, 16 << 20) == 0);
}

/* What the kernel takes for written after that, nobody may. */
TEST_ONCE(disk_that_fails_while_a_pool_grows) {
  char said[1000];
  int status = test_child_says(fail_to_grow, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(said, "the disk has not taken what was written"));
}

static bool was_synced_apart;
static void see_fsync(void) { was_synced_apart = true; }

/* By no other call: that would take the error away from a sync of another thread. */
TEST_ONCE(disk_grows_by_its_own_syncs) {
  uint64_t *words;
  CHECK(nvm_pool_close(pool_of_words(&words)) == 0);
  NVM_POOL *pool = test_open(test_path("pool"));
  hook_synced = see_fsync;
  CHECK(nvm_pool_resize(pool, 16 << 20) == 0 && nvm_pool_resize(pool, 8 << 20) == 0);
  CHECK(!was_synced_apart);
  hook_synced = NULL;
  CHECK(nvm_pool_close(pool) == 0);
}

static void run_and_fail(const void *argument) {
  const struct work *work = argument;
  sectors_failing = (int)work->fails;
  workload_run(work->path, work->progress, work->end);
}

static void look_at_it(const void *argument) {
  const struct work *work = argument;
  workload_verify(work->path, work->progress);
  sectors_write_image();
  _exit(0);
}

/* A sync fails, and the process ends. The next one finds in the page cache what is not on the disk,
 * and will never be. */
TEST_ONCE(disk_after_a_sync_that_failed) {
  struct progress *progress = progress_new();
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "disk", 1);
  const char *start = test_path("start");
  workload_run(start, progress, 2);
  struct work work = {test_path("pool"), progress, 6, 1};
  struct sectors_end end = {.path = work.path,
                            .image = test_path("image"),
                            .at = UINT64_MAX,
                            .stride = UINT32_MAX,
                            .run = run_and_fail,
                            .argument = &work};
  struct sectors_end next = end;
  next.goes_on = true;
  next.run = look_at_it;
  for (;; work.fails++) {
    progress->acknowledged = 2;
    int status = sectors_run(&end, start);
    if (WIFEXITED(status))
      break;
    CHECK(WTERMSIG(status) == SIGABRT);
    progress->interrupted = 1;
    CHECK(sectors_run(&next, NULL) == 0);
    workload_verify(next.image, progress);
    progress->interrupted = 0;
  }
  CHECK(work.fails > 10);
}

static char *map_file(const char *path, size_t size, int *fd) {
  *fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(*fd >= 0 && ftruncate(*fd, (off_t)size) == 0);
  char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

/* A thread has flushed to a file that was closed meanwhile; a smaller one has its number, the next
 * use of it, or one so much later that the number of the use comes again. */
static void use_number_again(unsigned uses) {
  enum { LARGE = 1 << 20, SMALL = 1 << 14, INDEX = 5 };
  const struct nvmi_persist *persist = nvmi_persist_disk();
  int first, second;
  char *large = map_file(test_path("large"), LARGE, &first);
  nvmi_sync_add(INDEX, large, large, LARGE, "large", first);
  large[LARGE - 100] = 1;
  persist->flush(large + LARGE - 100, 1);
  nvmi_sync_remove(INDEX, large);
  CHECK(munmap(large, LARGE) == 0);
  char *small = map_file(test_path("small"), SMALL, &second);
  for (unsigned i = 0; i < uses; i++) {
    nvmi_sync_remove(INDEX, small);
    nvmi_sync_add(INDEX, small, small, SMALL, "small", second);
  }
  uint64_t before = nvmi_sync_count(false);
  persist->fence();
  CHECK(nvmi_sync_count(false) == before);
  persist->flush(small, 1);
  persist->fence();
  CHECK(nvmi_sync_count(false) == before + 1 && nvmi_sync_count(true) == 0);
  nvmi_sync_remove(INDEX, small);
}

TEST_ONCE(disk_number_of_a_closed_file) {
  use_number_again(1);
  use_number_again(256);
}

/* Few pages are synced alone; of many, the file. */
TEST_ONCE(disk_few_pages_and_many) {
  enum { SIZE = 1 << 20, APART = 3 * 4096, INDEX = 6, FEW = 5 };
  const struct nvmi_persist *persist = nvmi_persist_disk();
  int fd;
  char *file = map_file(test_path("file"), SIZE, &fd);
  nvmi_sync_add(INDEX, file, file, SIZE, "file", fd);
  for (int i = 0; i < FEW; i++)
    persist->flush(file + (FEW - i) * APART, 1);
  persist->fence();
  CHECK(nvmi_sync_count(false) == 1 && nvmi_sync_count(true) == 0);
  for (size_t at = 0; at < SIZE; at += APART)
    persist->flush(file + at, 1);
  persist->fence();
  persist->fence();
  CHECK(nvmi_sync_count(false) == 2 && nvmi_sync_count(true) == 1);
  nvmi_sync_remove(INDEX, file);
}

/* Each pool is synced for itself. */
TEST_ONCE(disk_closes_many_pools) {
  enum { POOLS = 12, EACH = 3 };
  setenv("NVMOVE_DOMAIN", "disk", 1);
  NVM_POOL *pools[POOLS];
  for (int i = 0; i < POOLS; i++) {
    char name[20];
    snprintf(name, sizeof name, "pool%d", i);
    pools[i] = test_create(test_path(name), 1 << 20);
    CHECK(nvm_tx_begin(pools[i]) == 0 && nvm_alloc(pools[i], 0, 100));
    CHECK(nvm_tx_commit(pools[i]) == 0);
  }
  uint64_t before = nvmi_sync_count(true);
  for (int i = 0; i < POOLS; i++)
    CHECK(nvm_pool_close(pools[i]) == 0);
  CHECK(nvmi_sync_count(true) - before <= POOLS * EACH);
}

/* What is far more than a sync costs goes to its place at once: a record has an end. */
TEST_ONCE(disk_large_transaction) {
  enum { BLOCKS = 6000, BYTES = 1000 };
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "disk", 1);
  NVM_POOL *pool = test_create(test_path("pool"), 16 << 20);
  struct nvm_stats before, after;
  CHECK(nvm_pool_stats(pool, &before) == 0 && nvm_tx_begin(pool) == 0);
  for (int i = 0; i < BLOCKS; i++) {
    char *block = nvm_alloc(pool, 0, BYTES);
    CHECK(block);
    note_store(block, BYTES);
    memset(block, i, BYTES);
  }
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_stats(pool, &after) == 0);
  CHECK(after.log_bytes - before.log_bytes < (uint64_t)BLOCKS * BYTES / 4);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}
