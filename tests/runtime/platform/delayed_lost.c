/* delayed_lost.c: commits that do not wait for the disk (NVMOVE_DURABLE), and what of them is lost: records
 * that are missing or damaged, syncs that fail.
 */
#define _GNU_SOURCE
#include "delayed.h"
#include "harness.h"
#include "hooks.h"
#include "sectors.h"
#include "simulation.h"
#include "workload.h"

#include "core/map.h"
#include "core/pool.h"
#include "format/layout_tables.h"
#include "pool/recover_cut.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The record of the commit before the last loses a bit. */
static void damage_record(const char *path, uint64_t order) {
  int fd = open(path, O_RDWR);
  struct stat file;
  CHECK(fd >= 0 && fstat(fd, &file) == 0);
  char *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(bytes != MAP_FAILED);
  unsigned damaged = 0;
  for (off_t at = 0; at < file.st_size; at += NVM_FRAME_ALIGN) {
    struct nvm_frame *frame = (struct nvm_frame *)(void *)(bytes + at);
    if (frame->order == order && frame->transaction >> 16 == order &&
        NVM_FRAME_KIND(frame) == NVM_FRAME_COMMIT && NVM_FRAME_IS_PACKED(frame)) {
      frame->check ^= 1;
      damaged++;
    }
  }
  CHECK(damaged == 1);
  munmap(bytes, (size_t)file.st_size);
  close(fd);
}

enum { SYNCS = 1, DAMAGED = 2 };

static void commit_three(void *syncs) {
  delayed_open(test_path("pool"));
  for (uint64_t i = 1; i <= 3; i++)
    delayed_commit(i);
  if (syncs)
    CHECK(nvm_pool_sync(delayed_pool) == 0);
  raise(SIGKILL);
}

static void lose_a_record(bool syncs) {
  delayed_set("never");
  delayed_make(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, commit_three, syncs ? &delayed_root : NULL)));
  damage_record(test_path("pool"), DAMAGED);
}

/* One that no sync had covered may be lost, and takes those behind it along. */
TEST_ONCE(delayed_record_that_is_missing) {
  lose_a_record(false);
  CHECK(delayed_word_in(test_path("pool")) == 1);
}

/* One that a sync had covered cannot. */
TEST_ONCE(delayed_record_that_was_durable) {
  lose_a_record(true);
  CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
}

/* Nor one that a recovery had replayed, which was killed after it: what it stored in place is there. */
static void open_again(void *unused) {
  (void)unused;
  delayed_open(test_path("pool"));
}

TEST_ONCE(delayed_record_that_a_recovery_replayed) {
  for (unsigned step = 1; step <= 4; step++) {
    char kill[32];
    snprintf(kill, sizeof kill, "recover:%u", step);
    unlink(test_path("pool"));
    delayed_set("never");
    delayed_make(test_path("pool"));
    CHECK(test_was_killed(test_child(NULL, commit_three, NULL)));
    CHECK(test_was_killed(test_child(kill, open_again, NULL)));
    damage_record(test_path("pool"), DAMAGED);
    CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
  }
}

static void open_and_die(void *unused) {
  (void)unused;
  delayed_open(test_path("pool"));
  raise(SIGKILL);
}

/* The number that told of it is of that opening alone. */
TEST_ONCE(delayed_openings_begin_anew) {
  delayed_set("never");
  delayed_make(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, commit_three, &delayed_root)));
  CHECK(test_was_killed(test_child("recover:2", commit_three, NULL)));
  CHECK(test_was_killed(test_child(NULL, open_and_die, NULL)));
  CHECK(delayed_word_in(test_path("pool")) == 3);
}

static void commit_one(void *unused) {
  (void)unused;
  delayed_open(test_path("pool"));
  delayed_commit(8);
  raise(SIGKILL);
}

/* Numbers begin lower again behind an opening whose commits wait; what was told of durable ones before is old. */
TEST_ONCE(delayed_behind_an_opening_that_waits) {
  delayed_set("never");
  delayed_make(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, commit_three, &delayed_root)));
  delayed_set("always");
  CHECK(test_was_killed(test_child(NULL, open_and_die, NULL)));
  delayed_set("never");
  CHECK(test_was_killed(test_child(NULL, commit_one, NULL)));
  CHECK(delayed_word_in(test_path("pool")) == 8);
}

static void *commit_two(void *first) {
  delayed_commit((uint64_t)(uintptr_t)first);
  delayed_commit((uint64_t)(uintptr_t)first + 1);
  return NULL;
}

static void in_a_thread(uintptr_t first) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, commit_two, (void *)first) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void commit_once(void) {
  sectors_in_sync = NULL;
  in_a_thread(20);
}

static void commit_and_die(void) {
  in_a_thread(30);
  raise(SIGKILL);
}

/* The log that the first thread leaves is there for others, who then need no sync. */
static void exit_beside_threads(void *unused) {
  (void)unused;
  atexit(commit_and_die); /* before the pool is opened: behind the runtime's own */
  delayed_open(test_path("pool"));
  in_a_thread(10);
  sectors_in_sync = commit_once;
  exit(0);
}

/* Exit takes a checkpoint, another thread commits, the pool is clean, and a third thread goes on with it: the
 * second one's numbers are no gap before the third one's. */
static void make_pool(void *unused) {
  (void)unused;
  delayed_make(test_path("pool"));
}

TEST_ONCE(delayed_commits_behind_an_exit) {
  delayed_set("never");
  CHECK(test_child(NULL, make_pool, NULL) ==
        0); /* what this process inherits was registered first */
  CHECK(test_was_killed(test_child(NULL, exit_beside_threads, NULL)));
  CHECK(delayed_word_in(test_path("pool")) == 31);
}

static void fail_late(void *unused) {
  (void)unused;
  delayed_open(test_path("pool"));
  delayed_commit(1);
  sectors_failing = 1;
  delayed_commit(2);
  sleep(PATIENCE);
}

/* Also where the library's own thread has asked for it. */
TEST_ONCE(delayed_sync_that_fails_ends_the_process) {
  char said[1000];
  delayed_set("5");
  delayed_make(test_path("pool"));
  int status = test_child_says(fail_late, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(said, "the disk has not taken what was written"));
}

struct failing {
  struct progress *progress;
  volatile uint64_t *durable;
  int fails;
};
static volatile uint64_t *durable;

static void sync_some(NVM_POOL *of, uint64_t t) {
  if (t % 4)
    return;
  CHECK(nvm_pool_sync(of) == 0);
  *durable = t;
}

static void run_and_fail(const void *argument) {
  const struct failing *failing = argument;
  sectors_failing = failing->fails;
  durable = failing->durable;
  workload_committed = sync_some;
  workload_run(test_path("pool"), failing->progress, 16);
}

static void look_at_it(const void *argument) {
  const struct failing *failing = argument;
  struct progress bounds = {.acknowledged = *failing->durable,
                            .interrupted = 1 + failing->progress->acknowledged - *failing->durable};
  workload_verify(test_path("pool"), &bounds);
  _exit(0);
}

/* What a sync has not brought to the disk the page cache has as if it were there. */
TEST_ONCE(delayed_after_a_sync_that_failed) {
  delayed_set("never");
  struct failing failing = {progress_new(), &progress_new()->acknowledged, 1};
  workload_run(test_path("start"), failing.progress, 2);
  struct sectors_end end = {.path = test_path("pool"),
                            .image = test_path("image"),
                            .at = UINT64_MAX,
                            .stride = UINT32_MAX,
                            .run = run_and_fail,
                            .argument = &failing};
  struct sectors_end next = end;
  next.goes_on = true;
  next.run = look_at_it;
  for (;; failing.fails++) {
    failing.progress->acknowledged = *failing.durable = 2;
    int status = sectors_run(&end, test_path("start"));
    if (WIFEXITED(status))
      break;
    CHECK(WTERMSIG(status) == SIGABRT);
    CHECK(sectors_run(&next, NULL) == 0);
  }
  CHECK(failing.fails > 10);
}

/* The numbers of the records that a recovery found are given back. */
TEST_ONCE(delayed_cut_gives_back_its_memory) {
  struct nvmi_cut cut = {0};
  CHECK(nvmi_cut_add(&cut, 1, 0, 1));
  unsigned before = hook_unmapped;
  nvmi_cut_free(&cut);
  CHECK(hook_unmapped == before + 1);
}

static _Atomic unsigned syncs;
static void sync_slowly(void) {
  usleep(20000);
  syncs++;
}

static void *close_it(void *pool) {
  CHECK(nvm_pool_close(pool) == 0);
  return NULL;
}

/* Another thread closes the pool: from some moment on exit passes it over, and may end the process. */
TEST_ONCE(delayed_is_synced_before_exit_passes_it_over) {
  pthread_t thread;
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DURABLE", "never", 1);
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  unsigned index = pool->index;
  CHECK(nvm_tx_begin(pool) == 0);
  CHECK(nvm_pool_set_root(pool, nvm_calloc(pool, 0, 1, 64)) == 0 && nvm_tx_commit(pool) == 0);
  sectors_in_sync = sync_slowly;
  syncs = 0;
  CHECK(pthread_create(&thread, NULL, close_it, pool) == 0);
  while (nvmi_pool_in_use(index))
    sched_yield();
  CHECK(syncs > 0);
  CHECK(pthread_join(thread, NULL) == 0);
  sectors_in_sync = NULL;
}
