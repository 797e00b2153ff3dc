/* delayed_by_hand.c: commits that do not wait for the disk (NVMOVE_DURABLE), one promise at a time: when
 * they are synced, what a process that dies leaves, what a sync that fails does, what is damage.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "sectors.h"
#include "simulation.h"
#include "store.h"
#include "workload.h"

#include "format/layout_tables.h"
#include "nvmove/backup.h"
#include "platform/sync.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 3000, PATIENCE = 500, LATER_US = 10000 };

struct root {
  uint64_t word, other;
  uint64_t far[WORDS];
};

static void delay(const char *durable) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DURABLE", durable, 1);
}

static void make_pool(const char *path) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct root *root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static NVM_POOL *pool;
static struct root *root;

static void open_pool(const char *path) {
  pool = test_open(path);
  root = nvm_pool_root(pool);
}

static void set_word(uint64_t value) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->word, value);
  CHECK(nvm_tx_commit(pool) == 0);
}

static uint64_t word_in(const char *path) {
  open_pool(path);
  uint64_t word = root->word;
  CHECK(nvm_pool_close(pool) == 0);
  return word;
}

/* What the disk has at the end of `run`, when the kernel writes nothing by itself. */
static uint64_t word_after(void (*run)(const void *path)) {
  make_pool(test_path("start"));
  struct sectors_end end = {.path = test_path("pool"),
                            .image = test_path("image"),
                            .at = UINT64_MAX,
                            .stride = UINT32_MAX,
                            .run = run,
                            .argument = test_path("pool")};
  CHECK(sectors_run(&end, test_path("start")) == 0);
  return word_in(test_path("image"));
}

/* The second commit nobody waits for. */
static void commit_and_sync(const void *path) {
  open_pool(path);
  set_word(1);
  CHECK(nvm_pool_sync(pool) == 0);
  set_word(2);
  sectors_write_image();
  _exit(0);
}

/* The thread of the library has synced, and goes on to. */
static void commit_and_wait(const void *path) {
  open_pool(path);
  for (uint64_t value = 1; value <= 2; value++) {
    uint64_t before = nvmi_sync_count(false);
    set_word(value);
    for (unsigned i = 0; i < PATIENCE && nvmi_sync_count(false) == before; i++)
      usleep(LATER_US);
    CHECK(nvmi_sync_count(false) > before);
  }
  sectors_write_image();
  _exit(0);
}

TEST_ONCE(delayed_commit_is_waited_for) {
  delay("never");
  CHECK(word_after(commit_and_sync) == 1);
}

TEST_ONCE(delayed_commit_is_synced_in_time) {
  delay("20");
  CHECK(word_after(commit_and_wait) == 2);
}

/* Without a sync for each; none where nobody commits. */
static void count_syncs(const char *durable, uint32_t ms) {
  enum { COMMITS = 100 };
  struct nvm_info info;
  delay(durable);
  make_pool(test_path("pool"));
  open_pool(test_path("pool"));
  CHECK(nvm_pool_info(pool, &info) == 0 && info.sync_ms == ms);
  set_word(1); /* the log is made */
  uint64_t before = nvmi_sync_count(false);
  for (uint64_t i = 0; i < COMMITS; i++)
    set_word(i);
  CHECK(nvmi_sync_count(false) == before);
  CHECK(nvm_pool_sync(pool) == 0 && nvmi_sync_count(false) == before + 1);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(delayed_syncs_never) { count_syncs("never", NVM_SYNC_NEVER); }

TEST_ONCE(delayed_syncs_late) { count_syncs("60000", 60000); }

/* An abort restores what was committed, wherever that is by now. */
TEST_ONCE(delayed_abort_restores_what_is_not_synced) {
  delay("never");
  make_pool(test_path("pool"));
  open_pool(test_path("pool"));
  set_word(1);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->word, 2);
  CHECK(nvm_tx_abort(pool) == 0 && root->word == 1);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK(word_in(test_path("pool")) == 1);
}

/* Other domains wait as they do, and other methods cannot. */
TEST_ONCE(delayed_where_it_can_be) {
  struct nvm_info info;
  delay("100");
  setenv("NVMOVE_METHOD", "undo", 1);
  CHECK_FAILS(nvm_pool_create(test_path("pool"), 1 << 20) != NULL, NVM_EARGUMENT);
  CHECK(strstr(nvm_strerror(), "NVMOVE_DURABLE=100 needs the method shadow") &&
        strstr(nvm_strerror(), "set NVMOVE_METHOD=shadow"));
  setenv("NVMOVE_DOMAIN", "process", 1);
  NVM_POOL *here = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_pool_info(here, &info) == 0 && info.sync_ms == 0);
  CHECK(nvm_pool_sync(here) == 0);
  CHECK(nvm_pool_close(here) == 0);
  CHECK_FAILS(nvm_pool_sync(NULL) == 0, NVM_EARGUMENT);
}

static void commit_and_die(void *path) {
  open_pool(path);
  for (uint64_t i = 1; i <= 50; i++)
    set_word(i);
  raise(SIGKILL);
}

/* The death of the process alone takes nothing; and any domain and method recovers. */
TEST_ONCE(delayed_commit_survives_the_process) {
  static const char *const next[][3] = {
      {"disk", "shadow", "never"}, {"process", "undo", "always"}, {"power", "shadow", "always"}};
  for (unsigned i = 0; i < sizeof next / sizeof *next; i++) {
    delay("never");
    make_pool(test_path("pool"));
    CHECK(test_was_killed(test_child(NULL, commit_and_die, (void *)(uintptr_t)test_path("pool"))));
    setenv("NVMOVE_DOMAIN", next[i][0], 1);
    setenv("NVMOVE_METHOD", next[i][1], 1);
    setenv("NVMOVE_DURABLE", next[i][2], 1);
    CHECK(word_in(test_path("pool")) == 50);
    test_check_pool(test_path("pool"));
    unlink(test_path("pool"));
  }
}

/* One thread's long record has its number, and is not whole; another thread commits meanwhile, or would.
 * Then the process dies. */
static volatile uint64_t *acknowledged;
static pthread_t long_writer;
static _Atomic bool is_long_begun;

static void die_in_a_long_record(enum nvmi_step step) {
  if (step != NVMI_STEP_APPEND || !pthread_equal(pthread_self(), long_writer))
    return;
  is_long_begun = true;
  for (unsigned i = 0; i < 20 && !*acknowledged; i++)
    usleep(LATER_US);
  kill(getpid(), SIGKILL);
  pause();
}

static void *commit_meanwhile(void *unused) {
  set_word(1); /* has its log */
  while (!is_long_begun)
    usleep(100);
  set_word(2);
  *acknowledged = 2;
  return unused;
}

static void commit_long_and_die(void *path) {
  pthread_t other;
  open_pool(path);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->other, 1);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(pthread_create(&other, NULL, commit_meanwhile, NULL) == 0);
  while (!*(volatile uint64_t *)&root->word)
    usleep(100);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(root->far[i], i);
  long_writer = pthread_self();
  hook_steps(die_in_a_long_record);
  nvm_tx_commit(pool);
}

TEST_ONCE(delayed_number_waits_for_its_record) {
  acknowledged = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  delay("never");
  make_pool(test_path("pool"));
  CHECK(
      test_was_killed(test_child(NULL, commit_long_and_die, (void *)(uintptr_t)test_path("pool"))));
  CHECK(word_in(test_path("pool")) >= *acknowledged);
}

/* The pool and its file cannot grow: so the log cannot. */
static void fill(const char *path) {
  struct stat file;
  CHECK(stat(path, &file) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  struct rlimit limit = {(rlim_t)file.st_size, (rlim_t)file.st_size};
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (size_t size = 60000; size >= 16; size /= 2)
    for (void *block = pool; block;) {
      CHECK(nvm_tx_begin(pool) == 0);
      block = nvm_alloc(pool, 0, size);
      CHECK(nvm_tx_commit(pool) == 0);
    }
}

static void fail_and_commit(void *path) {
  open_pool(path);
  set_word(1);
  fill(path);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(root->far[i], i + 1);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOSPACE);
  CHECK(root->far[1] == 0);
  set_word(2);
  raise(SIGKILL);
}

/* The number of a record that did not fit is not missing. */
TEST_ONCE(delayed_record_that_did_not_fit) {
  delay("never");
  make_pool(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, fail_and_commit, (void *)(uintptr_t)test_path("pool"))));
  open_pool(test_path("pool"));
  CHECK(root->word == 2 && root->far[1] == 0);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

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
  open_pool(test_path("pool"));
  for (uint64_t i = 1; i <= 3; i++)
    set_word(i);
  if (syncs)
    CHECK(nvm_pool_sync(pool) == 0);
  raise(SIGKILL);
}

static void lose_a_record(bool syncs) {
  delay("never");
  make_pool(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, commit_three, syncs ? &root : NULL)));
  damage_record(test_path("pool"), DAMAGED);
}

/* One that no sync had covered may be lost, and takes those behind it along. */
TEST_ONCE(delayed_record_that_is_missing) {
  lose_a_record(false);
  CHECK(word_in(test_path("pool")) == 1);
}

/* One that a sync had covered cannot. */
TEST_ONCE(delayed_record_that_was_durable) {
  lose_a_record(true);
  CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
}

/* The number that told of it is of that opening alone. */
TEST_ONCE(delayed_openings_begin_anew) {
  delay("never");
  make_pool(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, commit_three, &root)));
  CHECK(test_was_killed(test_child("recover:2", commit_three, NULL)));
  CHECK(word_in(test_path("pool")) == 3);
}

static void fail_late(void *unused) {
  (void)unused;
  open_pool(test_path("pool"));
  set_word(1);
  sectors_failing = 1;
  set_word(2);
  sleep(PATIENCE);
}

/* Also where the library's own thread has asked for it. */
TEST_ONCE(delayed_sync_that_fails_ends_the_process) {
  char said[1000];
  delay("5");
  make_pool(test_path("pool"));
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
  delay("never");
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

/* A copy has what was committed, wherever that is by now. */
TEST_ONCE(delayed_pool_is_copied) {
  delay("never");
  make_pool(test_path("pool"));
  open_pool(test_path("pool"));
  for (uint64_t i = 1; i <= 50; i++)
    set_word(i);
  CHECK(nvm_pool_backup(pool, test_path("copy"), NULL) == 0);
  set_word(51);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK(word_in(test_path("copy")) == 50);
  test_check_pool(test_path("copy"));
}
