/* bringing.c: files on an ordinary disk whose commits do not wait, without a pool: what is brought to the
 * file and what is not, the library's thread, and what is given back (platform/delayed.h, late_sync.h).
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "platform/delayed.h"
#include "sectors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, SIZE = 8 << 20, FIRST = 50, SECOND, AT = 8, LATER_US = 10000, PATIENCE = 500 };
enum {
  DATA = NVM_CHUNKS_OFFSET / PAGE,
  MANY = 1100
}; /* more pages than are copied aside at a time */
enum { MAPPINGS = 3, NEVER = 0, LONG_MS = 60000 };

static const struct nvmi_persist *delayed;
static char *home, *file; /* in DRAM, and the page cache */
static int fd;
static _Atomic unsigned synced, waits, wakes;

static void count_sync(void) { synced++; }

static void count_futex(bool wake) {
  if (wake)
    wakes++;
  else
    waits++;
}

static char *map(int how) {
  char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, how, fd, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

static void prepare(unsigned ms) {
  fd = open(test_path("file"), O_RDWR | O_CREAT, 0600);
  CHECK(fd >= 0 && ftruncate(fd, SIZE) == 0);
  home = map(MAP_PRIVATE);
  file = map(MAP_SHARED);
  sectors_in_sync = count_sync;
  hook_futex = count_futex;
  nvmi_sync_add(FIRST, home, home, SIZE, test_path("file"), fd);
  CHECK(nvmi_delayed_start(FIRST, home, file, SIZE, ms) == 0);
  delayed = nvmi_persist_delayed();
}

static void finish(void) {
  nvmi_delayed_stop(FIRST);
  nvmi_sync_remove(FIRST, home);
}

static char *in_home(unsigned page) { return home + (uint64_t)page * PAGE + AT; }
static char *in_file(unsigned page) { return file + (uint64_t)page * PAGE + AT; }

static void store(unsigned page, char value) {
  *in_home(page) = value;
  delayed->flush(in_home(page), 1);
}

/* A page is brought once for each time that it was flushed, whoever asks for it. */
TEST_ONCE(bringing_what_was_flushed) {
  prepare(NEVER);
  store(DATA, 1);
  store(DATA + 70, 2);
  delayed->fence_all(home);
  CHECK(*in_file(DATA) == 1 && *in_file(DATA + 70) == 2);
  *in_home(DATA) = *in_home(DATA + 70) = 3;
  delayed->fence(); /* is asked for both pages */
  CHECK(*in_file(DATA) == 1 && *in_file(DATA + 70) == 2);
  store(DATA, 4);
  delayed->fence_all(home);
  CHECK(*in_file(DATA) == 4 && *in_file(DATA + 70) == 2);
  finish();
}

/* A flush of no bytes is of no page. */
TEST_ONCE(bringing_nothing) {
  prepare(NEVER);
  *in_home(DATA) = 1;
  delayed->flush(in_home(DATA), 0);
  delayed->fence_all(home);
  CHECK(*in_file(DATA) == 0);
  finish();
}

static void bring_many(bool whole) {
  prepare(NEVER);
  for (unsigned page = DATA; page < DATA + MANY; page++)
    memset(home + (uint64_t)page * PAGE, (int)(page % 251), PAGE);
  delayed->flush(home + (uint64_t)DATA * PAGE, (size_t)MANY * PAGE);
  if (whole)
    delayed->fence_all(home);
  else
    delayed->fence();
  CHECK(memcmp(home, file, SIZE) == 0);
  finish();
}

TEST_ONCE(bringing_many_pages) { bring_many(false); }

TEST_ONCE(bringing_many_pages_of_all) { bring_many(true); }

/* What is appended is in the page cache at once, and in DRAM: a page that is brought later has it. */
TEST_ONCE(bringing_what_is_appended) {
  _Alignas(64) char frame[64];
  prepare(NEVER);
  store(DATA, 1); /* from now on the page in DRAM is another one */
  memset(frame, 7, sizeof frame);
  delayed->append(home + DATA * PAGE, frame, sizeof frame);
  CHECK(memcmp(home + DATA * PAGE, frame, sizeof frame) == 0);
  CHECK(memcmp(file + DATA * PAGE, frame, sizeof frame) == 0);
  finish();
}

/* What a sync has covered is told once: a new generation has forgotten the number of the one before. */
TEST_ONCE(bringing_tells_of_a_record_once) {
  prepare(NEVER);
  const struct nvm_floor *floor = (const void *)(file + NVM_FLOOR_OFFSET);
  delayed->record(home, 7);
  nvmi_sync_records(FIRST);
  CHECK(floor->durable == 7 && synced == 1);
  nvmi_sync_records(FIRST); /* has nothing to sync */
  CHECK(synced == 1);
  memset(file + NVM_FLOOR_OFFSET + offsetof(struct nvm_floor, durable), 0, sizeof floor->durable);
  delayed->fence_all(home);
  CHECK(floor->durable == 0 && synced == 2);
  finish();
}

/* All mappings go, once, also those of a start that fails. The largest file's bitmap has no room. */
TEST_ONCE(bringing_gives_back_its_memory) {
  prepare(NEVER);
  unsigned before = hook_unmapped;
  errno = 0;
  CHECK(nvmi_delayed_start(SECOND, home, file, SIZE_MAX, NEVER) == -1 && errno == ENOMEM);
  CHECK(hook_unmapped == before + MAPPINGS - 1);
  finish();
  CHECK(hook_unmapped == before + 2 * MAPPINGS - 1);
  nvmi_delayed_stop(FIRST);
  CHECK(hook_unmapped == before + 2 * MAPPINGS - 1);
}

static bool no_thread;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument);
/* Says its error by its value alone. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument) {
  return no_thread ? EAGAIN : __real_pthread_create(thread, how, run, argument);
}

TEST_ONCE(bringing_without_its_thread) {
  prepare(NEVER);
  unsigned before = hook_unmapped;
  no_thread = true;
  errno = 0;
  CHECK(nvmi_delayed_start(SECOND, home, file, SIZE, LONG_MS) == -1 && errno == EAGAIN);
  no_thread = false;
  CHECK(hook_unmapped == before + MAPPINGS);
  nvmi_delayed_stop(SECOND);
  CHECK(wakes == 0);
  finish();
}

/* Its number says nothing of the next file. */
TEST_ONCE(bringing_ends_with_the_file) {
  prepare(NEVER);
  finish();
  nvmi_sync_add(FIRST, file, file, SIZE, test_path("file"), fd);
  nvmi_persist_disk()->flush(file, 1);
  nvmi_persist_disk()->fence();
  CHECK(synced == 1);
  nvmi_sync_remove(FIRST, file);
}

static unsigned threads(void) {
  unsigned count = 0;
  DIR *tasks = opendir("/proc/self/task");
  CHECK(tasks);
  for (const struct dirent *entry; (entry = readdir(tasks));)
    count += *entry->d_name != '.';
  closedir(tasks);
  return count;
}

static void await(const _Atomic unsigned *what, unsigned count) {
  for (unsigned i = 0; i < PATIENCE && *what < count; i++)
    usleep(LATER_US);
  CHECK(*what >= count);
}

/* It sleeps while there is no record, then for so long as it is told. It ends at once, and without a
 * sync; then it is not there. */
TEST_ONCE(bringing_late_sleeps_and_ends) {
  unsigned before = threads();
  prepare(LONG_MS);
  await(&waits, 1);
  CHECK(threads() == before + 1);
  delayed->record(home, 2);
  await(&waits, 2);
  usleep(LATER_US);
  uint64_t syncs = nvmi_sync_count(false);
  CHECK(synced == 0);
  nvmi_delayed_stop(FIRST);
  CHECK(synced == 0 && nvmi_sync_count(false) == syncs);
  for (unsigned i = 0; i < PATIENCE && threads() > before; i++)
    usleep(LATER_US);
  CHECK(threads() == before);
  unsigned woken = wakes;
  finish();
  CHECK(wakes == woken);
}

static _Atomic unsigned looks;
static _Atomic bool blocked;

static bool blocks(int signal) {
  sigset_t mask;
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
  return sigismember(&mask, signal);
}

static void look_at_the_mask(bool wakes) {
  if (wakes)
    return;
  blocked = blocks(SIGINT) && blocks(SIGTERM) && blocks(SIGUSR1) && blocks(SIGALRM) &&
            blocks(SIGCHLD) && blocks(SIGRTMAX);
  looks++;
}

/* Signals are the program's threads' alone. */
TEST_ONCE(bringing_late_takes_no_signals) {
  CHECK(!blocks(SIGUSR1));
  prepare(LONG_MS);
  CHECK(!blocks(SIGUSR1));
  await(&waits, 1);
  hook_futex = look_at_the_mask;
  delayed->record(home, 2);
  await(&looks, 1); /* it is about to wait */
  CHECK(blocked);
  finish();
}

static void end_in_child(bool goes_on) {
  unsigned before = hook_unmapped, woken = wakes;
  nvmi_sync_in_child(goes_on);
  CHECK(hook_unmapped == before + (goes_on ? 0 : MAPPINGS));
  nvmi_delayed_stop(FIRST);
  CHECK(hook_unmapped == before + MAPPINGS && wakes == woken);
  _exit(0);
}

/* In a child there is no thread, and without the mappings nothing. */
TEST_ONCE(bringing_in_a_child) {
  prepare(LONG_MS);
  for (unsigned goes_on = 0; goes_on < 2; goes_on++) {
    int status;
    pid_t child = _Fork(); /* without the library's handlers */
    CHECK(child >= 0);
    if (!child)
      end_in_child(goes_on);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  finish();
}

static sigjmp_buf failed;

static void leave_the_handler(enum nvm_error code, const char *message) {
  (void)message;
  CHECK(code == NVM_ESYSTEM);
  siglongjmp(failed, 1);
}

static void record_after_a_failure(void *unused) {
  (void)unused;
  prepare(NEVER);
  nvm_set_fatal_handler(leave_the_handler);
  sectors_failing = 1;
  store(DATA, 1);
  if (!sigsetjmp(failed, 1))
    delayed->fence();
  delayed->record(home, 2);
}

/* Nobody waits for a record: so whoever puts one into the page cache of a disk that has failed learns of it
 * there. */
TEST_ONCE(bringing_no_record_to_a_disk_that_failed) {
  char said[1000];
  int status = test_child_says(record_after_a_failure, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(said, "it is not asked again"));
}
