/* syncs.c: what is synced of files on an ordinary disk, by hand (platform/sync.h). */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "platform/sync.h"
#include "sectors.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  PAGE = 4096,
  SIZE = 4 << 20,
  THREADS = 5,
  RANGES = 16,
  FIRST = 40,
  SECOND,
  LATER_US = 30000
};
enum { PATIENCE = 200 };

long hook_file_system;
static unsigned ranges_written, synced;

int __real_fstatfs(int fd, struct statfs *of);
int __wrap_fstatfs(int fd, struct statfs *of);
int __wrap_fstatfs(int fd, struct statfs *of) {
  int failed = __real_fstatfs(fd, of);
  if (!failed && hook_file_system)
    of->f_type = hook_file_system;
  return failed;
}

int __real_sync_file_range(int fd, off_t from, off_t size, unsigned flags);
int __wrap_sync_file_range(int fd, off_t from, off_t size, unsigned flags);
int __wrap_sync_file_range(int fd, off_t from, off_t size, unsigned flags) {
  ranges_written++;
  return __real_sync_file_range(fd, from, size, flags);
}

static void count_sync(void) { synced++; }

static const struct nvmi_persist *disk;
static char *home;
static int fd;

static void add(unsigned index) { nvmi_sync_add(index, home, home, SIZE, test_path("file"), fd); }

static void prepare(void) {
  fd = open(test_path("file"), O_RDWR | O_CREAT, 0600);
  CHECK(fd >= 0 && ftruncate(fd, SIZE) == 0);
  home = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(home != MAP_FAILED);
  disk = nvmi_persist_disk();
  sectors_in_sync = count_sync;
  add(FIRST);
}

/* Pages that do not touch each other. */
static void flush_pages(unsigned from, unsigned count) {
  for (unsigned i = from; i < from + count; i++)
    disk->flush(home + 2 * (uint64_t)i * PAGE, 1);
}

/* All pages but the last are written without emptying the disk's cache, where that can be. */
TEST_ONCE(syncs_write_ranges_where_they_can) {
  hook_file_system = EXT4_SUPER_MAGIC;
  prepare();
  flush_pages(0, 3);
  disk->fence();
  CHECK(ranges_written == 2 && synced == 1);
  nvmi_sync_remove(FIRST, home);
}

/* A file that was closed has nothing of one that lies there now. */
TEST_ONCE(syncs_are_of_the_file_that_is_open) {
  prepare();
  nvmi_sync_remove(FIRST, home);
  add(SECOND);
  flush_pages(0, 1);
  disk->fence();
  CHECK(synced == 1);
  nvmi_sync_remove(SECOND, home);
}

/* Nor has a child of fork anything of what its parent has flushed. */
TEST_ONCE(syncs_are_not_a_childs) {
  prepare();
  disk->behind->begin(home);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    add(FIRST);
    disk->fence();
    _exit(synced != 0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  disk->fence();
  CHECK(synced == 1);
  nvmi_sync_remove(FIRST, home);
}

/* What was put behind is synced once. */
TEST_ONCE(syncs_what_was_put_behind_once) {
  prepare();
  disk->behind->begin(home);
  disk->behind->end(home);
  for (unsigned i = 0; i < 3; i++) {
    disk->behind->fence(home);
    CHECK(synced == 1);
  }
  nvmi_sync_remove(FIRST, home);
}

/* A disk may be simulated. */
TEST_ONCE(syncs_are_those_of_a_simulation) {
  static const struct nvmi_persist simulated;
  nvmi_persist_override = &simulated;
  CHECK(nvmi_persist_disk() == &simulated);
  nvmi_persist_override = NULL;
}

static _Atomic unsigned asking;
static _Atomic bool in_sync;

/* The first sync takes until all others have asked for theirs. */
static void await_all(void) {
  if (in_sync)
    return;
  in_sync = true;
  while (asking < THREADS)
    usleep(100);
  usleep(LATER_US);
}

static void *ask(void *number) {
  flush_pages((unsigned)(uintptr_t)number * RANGES, RANGES);
  asking++;
  disk->fence();
  return NULL;
}

static void *lead(void *unused) {
  flush_pages(THREADS * RANGES, 1);
  disk->fence();
  return unused;
}

/* More pages than a sync keeps a list of are synced with the whole file. */
TEST_ONCE(syncs_of_many_pages_are_of_all) {
  pthread_t first, others[THREADS];
  prepare();
  sectors_in_sync = await_all;
  uint64_t before = nvmi_sync_count(true);
  CHECK(pthread_create(&first, NULL, lead, NULL) == 0);
  while (!in_sync)
    usleep(100);
  for (uintptr_t i = 0; i < THREADS; i++)
    CHECK(pthread_create(&others[i], NULL, ask, (void *)i) == 0);
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_join(others[i], NULL) == 0);
  CHECK(pthread_join(first, NULL) == 0 && nvmi_sync_count(true) == before + 1);
  nvmi_sync_remove(FIRST, home);
}

static _Atomic bool ended;

static void take_long(void) {
  in_sync = true;
  usleep(LATER_US);
  ended = true;
}

static void close_meanwhile(void) {
  pthread_t thread;
  sectors_in_sync = take_long;
  CHECK(pthread_create(&thread, NULL, lead, NULL) == 0);
  while (!in_sync)
    usleep(100);
  nvmi_sync_remove(FIRST, home);
  CHECK(ended && pthread_join(thread, NULL) == 0);
}

/* A file whose sync runs is closed behind it. */
TEST_ONCE(syncs_end_before_the_file_is_closed) {
  int status = 1;
  prepare();
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    add(FIRST);
    close_meanwhile();
    _exit(0);
  }
  for (unsigned i = 0; i < PATIENCE && waitpid(child, &status, WNOHANG) == 0; i++)
    usleep(LATER_US);
  kill(child, SIGKILL);
  CHECK(status == 0);
}

/* What lies in no file is nobody's, however much it is. */
TEST_ONCE(syncs_nothing_beside_files) {
  prepare();
  add(0);
  disk->flush(home + 2 * (uint64_t)SIZE, 1);
  disk->flush(home + 2 * (uint64_t)SIZE, UINT64_C(1) << 33);
  disk->fence();
  disk->fence_all(home + 2 * (uint64_t)SIZE);
  disk->behind->fence(home + 2 * (uint64_t)SIZE);
  CHECK(synced == 0);
  nvmi_sync_remove(0, home);
  nvmi_sync_remove(FIRST, home);
}

/* Pages of a file's other mapping are its own. */
TEST_ONCE(syncs_both_mappings) {
  prepare();
  char *work = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(work != MAP_FAILED);
  nvmi_sync_remove(FIRST, home);
  nvmi_sync_add(FIRST, home, work, SIZE, test_path("file"), fd);
  disk->flush(work + PAGE, 1);
  disk->fence();
  CHECK(synced == 1);
  disk->flush(home + PAGE, 1);
  disk->fence();
  CHECK(synced == 2);
  nvmi_sync_remove(FIRST, home);
}

/* A number that another file had has nothing of it: neither pages, nor what was put behind, nor what was
 * asked for behind its end. */
TEST_ONCE(syncs_of_a_number_used_again) {
  prepare();
  flush_pages(0, 1);
  nvmi_sync_remove(FIRST, home);
  add(FIRST);
  disk->fence();
  CHECK(synced == 0);
  disk->behind->begin(home);
  disk->behind->end(home);
  nvmi_sync_remove(FIRST, home);
  add(FIRST);
  disk->behind->fence(home);
  CHECK(synced == 0);
  disk->behind->begin(home);
  nvmi_sync_remove(FIRST, home);
  disk->fence();
  add(FIRST);
  uint64_t whole = nvmi_sync_count(true);
  flush_pages(0, 1);
  disk->fence();
  CHECK(synced == 1 && nvmi_sync_count(true) == whole);
  nvmi_sync_remove(FIRST, home);
}

/* What is flushed while something is put behind, after a fence has come in between, is put behind, too. */
TEST_ONCE(syncs_what_came_behind_a_fence) {
  prepare();
  disk->behind->begin(home);
  disk->fence();
  CHECK(synced == 1);
  flush_pages(0, 1);
  disk->behind->end(home);
  disk->fence();
  CHECK(synced == 1);
  disk->behind->fence(home);
  CHECK(synced == 2);
  nvmi_sync_remove(FIRST, home);
}

static sigjmp_buf failed;

static void leave_the_handler(enum nvm_error code, const char *message) {
  CHECK(code == NVM_ESYSTEM && strncmp(message, test_path("file"), strlen(test_path("file"))) == 0);
  siglongjmp(failed, 1);
}

/* A disk that has failed is told of by the file's name, and says nothing of the next file. */
TEST_ONCE(syncs_fail_for_one_file) {
  prepare();
  nvm_set_fatal_handler(leave_the_handler);
  sectors_failing = 1;
  flush_pages(0, 1);
  if (!sigsetjmp(failed, 1)) {
    disk->fence();
    CHECK(false);
  }
  nvmi_sync_remove(FIRST, home);
  add(FIRST);
  synced = 0;
  flush_pages(0, 1);
  disk->fence();
  CHECK(synced == 1);
  nvmi_sync_remove(FIRST, home);
}

static pthread_t asks;
static _Atomic bool waits, woken;

/* Who asks is about to wait, and does so only when that sync has ended. */
static void wait_late(bool wakes) {
  if (wakes)
    woken = true;
  else if (pthread_equal(pthread_self(), asks)) {
    waits = true;
    while (!woken)
      usleep(100);
  }
}

static void await_waiter(void) {
  in_sync = true;
  for (unsigned i = 0; i < PATIENCE && !waits; i++)
    usleep(LATER_US / 10);
}

static void *ask_for_one(void *unused) {
  asks = pthread_self();
  flush_pages(0, 1);
  disk->fence();
  return unused;
}

/* Who waits for a sync that has ended by now goes on at once; who waits sleeps. */
TEST_ONCE(syncs_are_waited_for_until_they_end) {
  pthread_t first, second;
  prepare();
  sectors_in_sync = await_waiter;
  hook_futex = wait_late;
  CHECK(pthread_create(&first, NULL, lead, NULL) == 0);
  while (!in_sync)
    usleep(100);
  alarm(5); /* this thread's: who waits takes no signals */
  CHECK(pthread_create(&second, NULL, ask_for_one, NULL) == 0);
  CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, NULL) == 0 && waits && woken);
  nvmi_sync_remove(FIRST, home);
}

/* Only who has the number takes it back. */
TEST_ONCE(syncs_go_on_for_another_home) {
  prepare();
  nvmi_sync_remove(FIRST, NULL);
  nvmi_sync_remove(FIRST, home + PAGE);
  flush_pages(0, 1);
  disk->fence();
  CHECK(synced == 1);
  nvmi_sync_remove(FIRST, home);
}

static pid_t forked;

static void fork_in_sync(void) {
  sectors_in_sync = count_sync;
  forked = fork();
  CHECK(forked >= 0);
  if (!forked) {
    add(FIRST);
    flush_pages(0, 1);
    disk->fence();
    _exit(synced != 1);
  }
}

/* In a child of fork no sync runs, whatever its parent was at. */
TEST_ONCE(syncs_do_not_run_in_a_child) {
  int status = 1;
  prepare();
  sectors_in_sync = fork_in_sync;
  flush_pages(0, 1);
  disk->fence();
  for (unsigned i = 0; i < PATIENCE && waitpid(forked, &status, WNOHANG) == 0; i++)
    usleep(LATER_US / 2);
  kill(forked, SIGKILL);
  CHECK(status == 0);
  nvmi_sync_remove(FIRST, home);
}
