/* disk.c: pools on an ordinary disk: the machine ends at any moment, and the disk has what it was told
 * to have, and whatever part of the rest the kernel has written by then; syncs are shared; one that
 * fails ends the process.
 *
 * The disk is simulated behind msync and fsync (the linker sends both through here, CMakeLists.txt):
 * at each step of the runtime some sectors that have changed since are written, in any order; at the
 * end one may be written in part. A sync writes all.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "platform/sync.h"
#include "simulation.h"
#include "store.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECTOR = 512, WORD = 8, FILE_MAX = 64 << 20, THREADS = 4, EACH = 50 };

static struct {
  const char *path, *image;
  uint64_t at, events, dice; /* at 0: nothing is simulated */
  char *holds;               /* what the disk has */
  int failing;               /* so many syncs from now fails; 0: none */
  unsigned delay;            /* microseconds of a sync */
} disk;

static uint64_t throw(void) {
  disk.dice = disk.dice * UINT64_C(6364136223846793005) + 1442695040888963407;
  return disk.dice >> 33;
}

/* What the page cache has: a mapping of its own shows it. */
static const char *cached(size_t *size) {
  int fd = open(disk.path, O_RDONLY);
  struct stat status;
  if (fd < 0)
    return NULL;
  fstat(fd, &status);
  *size = (size_t)status.st_size;
  const char *bytes = *size ? mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  return bytes == MAP_FAILED ? NULL : bytes;
}

/* In part: of some words. */
static void write_sector(char *to, const char *from, size_t size, bool whole) {
  for (size_t i = 0; i < size; i += WORD)
    if (whole || throw() % 2)
      memcpy(to + i, from + i, size - i < WORD ? size - i : WORD);
}

static void write_some(const char *bytes, size_t size, bool is_last) {
  for (size_t at = 0; at < size; at += SECTOR) {
    size_t part = size - at < SECTOR ? size - at : SECTOR;
    if (memcmp(disk.holds + at, bytes + at, part) != 0 && throw() % 4 == 0)
      write_sector(disk.holds + at, bytes + at, part, !is_last || throw() % 8);
  }
}

static _Noreturn void end_machine(size_t size) {
  int fd = open(disk.image, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, disk.holds, size) != (ssize_t)size)
    _exit(1);
  _exit(POWER_CUT);
}

static void happen(enum nvmi_step step) {
  (void)step;
  size_t size;
  const char *bytes = disk.at ? cached(&size) : NULL;
  if (!bytes)
    return;
  bool is_last = ++disk.events >= disk.at;
  write_some(bytes, size, is_last);
  if (is_last)
    end_machine(size);
  munmap((void *)bytes, size);
}

static void synced(void) {
  size_t size;
  const char *bytes = disk.at ? cached(&size) : NULL;
  if (!bytes)
    return;
  memcpy(disk.holds, bytes, size);
  munmap((void *)bytes, size);
}

int __real_msync(void *at, size_t size, int flags);
int __wrap_msync(void *at, size_t size, int flags);
int __wrap_msync(void *at, size_t size, int flags) {
  happen(NVMI_STEP_COMMIT);
  if (disk.delay)
    usleep(disk.delay);
  if (disk.failing && --disk.failing == 0) {
    errno = EIO;
    return -1;
  }
  int result = __real_msync(at, size, flags);
  synced();
  return result;
}

struct ending {
  const char *path, *image;
  uint64_t at, seed, end;
  struct progress *progress;
};

static void run_to_the_end(void *argument) {
  const struct ending *e = argument;
  size_t size;
  disk.path = e->path;
  disk.image = e->image;
  disk.dice = e->seed;
  disk.holds = mmap(NULL, FILE_MAX, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  disk.at = e->at;
  const char *bytes = cached(&size);
  memcpy(disk.holds, bytes, size);
  hook_steps(happen);
  hook_synced = synced;
  workload_run(e->path, e->progress, e->end);
}

/* False: there are not so many events. */
static bool machine_ends(struct ending *e, const char *start) {
  power_copy(start, e->path);
  int status = test_child(NULL, run_to_the_end, e);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
  return WEXITSTATUS(status) == POWER_CUT;
}

/* The machine ends in a workload, and again while what is left is opened. */
static void ends_anywhere(const char *method) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", method, 1);
  const char *start = test_path("start");
  struct progress *progress = progress_new();
  workload_run(start, progress, 4);
  struct ending first = {test_path("pool"), test_path("image"), 1, 1 + test_seed(), 16, progress};
  struct ending second = {test_path("again"), test_path("image2"), 1, 0, 16, progress};
  uint64_t states = 0, stride = test_is_long() ? 400 : 12;
  for (;; first.at += 1 + first.at / stride, first.seed += 7) {
    progress->acknowledged = 4;
    if (!machine_ends(&first, start))
      break;
    workload_verify(first.image, progress);
    states++;
    uint64_t known = progress->acknowledged;
    for (second.at = 1 + first.seed % 3; second.at < 40; second.at += test_is_long() ? 5 : 13) {
      second.seed = first.seed + second.at;
      progress->acknowledged = known;
      progress->interrupted++;
      power_copy(first.image, second.path);
      if (!machine_ends(&second, first.image))
        break;
      workload_verify(second.image, progress);
      states++;
    }
    progress->interrupted = 0;
  }
  CHECK(states > (test_is_long() ? 500 : 40));
}

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
  uint64_t before = nvmi_sync_count();
  write_often(words);
  CHECK(nvmi_sync_count() - before == EACH);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvmi_sync_count() - before == EACH);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Threads that commit while a sync runs share the next one. */
TEST_ONCE(disk_syncs_are_shared) {
  uint64_t *words;
  NVM_POOL *pool = pool_on_disk(&words);
  pthread_t threads[THREADS];
  disk.delay = 2000;
  uint64_t before = nvmi_sync_count();
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, write_often, words + i * 8) == 0);
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nvmi_sync_count() - before < THREADS * EACH * 3 / 4);
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
  disk.failing = 1;
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
