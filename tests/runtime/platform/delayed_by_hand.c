/* delayed_by_hand.c: commits that do not wait for the disk (NVMOVE_DURABLE), one promise at a time: when
 * they are synced, what a process leaves that dies or exits, and where it cannot be.
 */
#define _GNU_SOURCE
#include "delayed.h"
#include "harness.h"
#include "hooks.h"
#include "sectors.h"
#include "simulation.h"
#include "store.h"
#include "workload.h"

#include "nvmove/backup.h"
#include "platform/sync.h"
#include "pool/events.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void delayed_set(const char *durable) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DURABLE", durable, 1);
}

void delayed_make(const char *path) {
  NVM_POOL *delayed_pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(delayed_pool) == 0);
  struct root *delayed_root = nvm_calloc(delayed_pool, 0, 1, sizeof *delayed_root);
  CHECK(delayed_root && nvm_pool_set_root(delayed_pool, delayed_root) == 0 &&
        nvm_tx_commit(delayed_pool) == 0);
  CHECK(nvm_pool_close(delayed_pool) == 0);
}

NVM_POOL *delayed_pool;
struct root *delayed_root;

void delayed_open(const char *path) {
  delayed_pool = test_open(path);
  delayed_root = nvm_pool_root(delayed_pool);
}

void delayed_commit(uint64_t value) {
  CHECK(nvm_tx_begin(delayed_pool) == 0);
  STORE(delayed_root->word, value);
  CHECK(nvm_tx_commit(delayed_pool) == 0);
}

uint64_t delayed_word_in(const char *path) {
  delayed_open(path);
  uint64_t word = delayed_root->word;
  CHECK(nvm_pool_close(delayed_pool) == 0);
  return word;
}

/* What the disk has at the end of `run`, when the kernel writes nothing by itself. */
static uint64_t word_after(void (*run)(const void *path)) {
  delayed_make(test_path("start"));
  struct sectors_end end = {.path = test_path("pool"),
                            .image = test_path("image"),
                            .at = UINT64_MAX,
                            .stride = UINT32_MAX,
                            .run = run,
                            .argument = test_path("pool")};
  CHECK(sectors_run(&end, test_path("start")) == 0);
  return delayed_word_in(test_path("image"));
}

/* The second commit nobody waits for. */
static void commit_and_sync(const void *path) {
  delayed_open(path);
  delayed_commit(1);
  CHECK(nvm_pool_sync(delayed_pool) == 0);
  delayed_commit(2);
  sectors_write_image();
  _exit(0);
}

/* The thread of the library has synced, and goes on to. */
static void commit_and_wait(const void *path) {
  delayed_open(path);
  for (uint64_t value = 1; value <= 2; value++) {
    uint64_t before = nvmi_sync_count(false);
    delayed_commit(value);
    for (unsigned i = 0; i < PATIENCE && nvmi_sync_count(false) == before; i++)
      usleep(LATER_US);
    CHECK(nvmi_sync_count(false) > before);
  }
  sectors_write_image();
  _exit(0);
}

TEST_ONCE(delayed_commit_is_waited_for) {
  delayed_set("never");
  CHECK(word_after(commit_and_sync) == 1);
}

TEST_ONCE(delayed_commit_is_synced_in_time) {
  delayed_set("20");
  CHECK(word_after(commit_and_wait) == 2);
}

/* Without a sync for each; none where nobody commits. */
static void count_syncs(const char *durable, uint32_t ms) {
  enum { COMMITS = 100 };
  struct nvm_info info;
  delayed_set(durable);
  delayed_make(test_path("pool"));
  delayed_open(test_path("pool"));
  CHECK(nvm_pool_info(delayed_pool, &info) == 0 && info.sync_ms == ms);
  delayed_commit(1); /* the log is made */
  uint64_t before = nvmi_sync_count(false);
  for (uint64_t i = 0; i < COMMITS; i++)
    delayed_commit(i);
  CHECK(nvmi_sync_count(false) == before);
  CHECK(nvm_pool_sync(delayed_pool) == 0 && nvmi_sync_count(false) == before + 1);
  CHECK(nvm_pool_close(delayed_pool) == 0);
}

TEST_ONCE(delayed_syncs_never) { count_syncs("never", NVM_SYNC_NEVER); }

TEST_ONCE(delayed_syncs_late) { count_syncs("60000", 60000); }

/* An abort restores what was committed, wherever that is by now. */
TEST_ONCE(delayed_abort_restores_what_is_not_synced) {
  delayed_set("never");
  delayed_make(test_path("pool"));
  delayed_open(test_path("pool"));
  delayed_commit(1);
  CHECK(nvm_tx_begin(delayed_pool) == 0);
  STORE(delayed_root->word, 2);
  CHECK(nvm_tx_abort(delayed_pool) == 0 && delayed_root->word == 1);
  CHECK(nvm_pool_close(delayed_pool) == 0);
  CHECK(delayed_word_in(test_path("pool")) == 1);
}

/* Other domains wait as they do, and other methods cannot. */
TEST_ONCE(delayed_where_it_can_be) {
  struct nvm_info info;
  delayed_set("100");
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

enum { MANY = 600 }; /* records that a log's first segment has no room for */

static void commit_and_die(void *path) {
  delayed_open(path);
  for (uint64_t i = 1; i <= MANY; i++)
    delayed_commit(i);
  raise(SIGKILL);
}

/* The death of the process alone takes nothing; and any domain and method recovers. */
TEST_ONCE(delayed_commit_survives_the_process) {
  static const char *const next[][3] = {
      {"disk", "shadow", "never"}, {"process", "undo", "always"}, {"power", "shadow", "always"}};
  for (unsigned i = 0; i < sizeof next / sizeof *next; i++) {
    delayed_set("never");
    delayed_make(test_path("pool"));
    CHECK(test_was_killed(test_child(NULL, commit_and_die, (void *)(uintptr_t)test_path("pool"))));
    setenv("NVMOVE_DOMAIN", next[i][0], 1);
    setenv("NVMOVE_METHOD", next[i][1], 1);
    setenv("NVMOVE_DURABLE", next[i][2], 1);
    CHECK(delayed_word_in(test_path("pool")) == MANY);
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

static atomic_bool has_its_log;

static void *commit_meanwhile(void *unused) {
  delayed_commit(1);
  has_its_log = true;
  while (!is_long_begun)
    usleep(100);
  delayed_commit(2);
  *acknowledged = 2;
  return unused;
}

static void commit_long_and_die(void *path) {
  pthread_t other;
  delayed_open(path);
  CHECK(nvm_tx_begin(delayed_pool) == 0);
  STORE(delayed_root->other, 1);
  CHECK(nvm_tx_commit(delayed_pool) == 0);
  CHECK(pthread_create(&other, NULL, commit_meanwhile, NULL) == 0);
  while (!has_its_log)
    usleep(100);
  CHECK(nvm_tx_begin(delayed_pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(delayed_root->far[i], i);
  long_writer = pthread_self();
  hook_steps(die_in_a_long_record);
  nvm_tx_commit(delayed_pool);
}

TEST_ONCE(delayed_number_waits_for_its_record) {
  acknowledged = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  delayed_set("never");
  delayed_make(test_path("pool"));
  CHECK(
      test_was_killed(test_child(NULL, commit_long_and_die, (void *)(uintptr_t)test_path("pool"))));
  CHECK(delayed_word_in(test_path("pool")) >= *acknowledged);
}

/* The pool and its file cannot grow: so the log cannot. */
static void fill(const char *path) {
  struct stat file;
  CHECK(stat(path, &file) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  struct rlimit limit = {(rlim_t)file.st_size, (rlim_t)file.st_size};
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (size_t size = 60000; size >= 16; size /= 2)
    for (void *block = delayed_pool; block;) {
      CHECK(nvm_tx_begin(delayed_pool) == 0);
      block = nvm_alloc(delayed_pool, 0, size);
      CHECK(nvm_tx_commit(delayed_pool) == 0);
    }
}

static void fail_and_commit(void *path) {
  delayed_open(path);
  delayed_commit(1);
  fill(path);
  CHECK(nvm_tx_begin(delayed_pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(delayed_root->far[i], i + 1);
  CHECK_FAILS(nvm_tx_commit(delayed_pool) == 0, NVM_ENOSPACE);
  CHECK(delayed_root->far[1] == 0);
  delayed_commit(2);
  raise(SIGKILL);
}

/* The number of a record that did not fit is not missing. */
TEST_ONCE(delayed_record_that_did_not_fit) {
  delayed_set("never");
  delayed_make(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, fail_and_commit, (void *)(uintptr_t)test_path("pool"))));
  delayed_open(test_path("pool"));
  CHECK(delayed_root->word == 2 && delayed_root->far[1] == 0);
  CHECK(nvm_pool_close(delayed_pool) == 0);
  test_check_pool(test_path("pool"));
}

/* A copy has what was committed, wherever that is by now. */
TEST_ONCE(delayed_pool_is_copied) {
  delayed_set("never");
  delayed_make(test_path("pool"));
  delayed_open(test_path("pool"));
  for (uint64_t i = 1; i <= 50; i++)
    delayed_commit(i);
  CHECK(nvm_pool_backup(delayed_pool, test_path("copy"), NULL) == 0);
  delayed_commit(51);
  CHECK(nvm_pool_close(delayed_pool) == 0);
  CHECK(delayed_word_in(test_path("copy")) == 50);
  test_check_pool(test_path("copy"));
}

static _Atomic bool has_log;

static void *commit_and_stay(void *unused) {
  CHECK(nvm_tx_begin(delayed_pool) == 0);
  STORE(delayed_root->other, 1);
  CHECK(nvm_tx_commit(delayed_pool) == 0);
  has_log = true;
  pause();
  return unused;
}

/* Destructors come behind libnvmove's exit handler. */
static bool writes_image;
__attribute__((destructor)) static void write_image(void) {
  if (writes_image)
    sectors_write_image();
}

static void exit_beside_a_thread(const void *path) {
  pthread_t other;
  writes_image = true;
  delayed_open(path);
  CHECK(pthread_create(&other, NULL, commit_and_stay, NULL) == 0);
  while (!has_log)
    usleep(100);
  delayed_commit(1);
  exit(0);
}

/* What a thread has committed that calls exit is on the disk then, also where the pool stays open. */
TEST_ONCE(delayed_exit_syncs) {
  delayed_set("never");
  CHECK(word_after(exit_beside_a_thread) == 1);
}

/* In the child of daemon() the library's thread is there again. */
static volatile uint64_t *synced_late;

static void become_daemon(void *unused) {
  (void)unused;
  const struct nvm_pool *busy;
  delayed_open(test_path("pool"));
  delayed_commit(1);
  uint64_t before = nvmi_sync_count(false);
  CHECK(nvmi_daemon(1, 1, &busy) == 0);
  bool is_late = true;
  for (uint64_t value = 2; value <= 3; value++) { /* what the parent has committed, and the child */
    for (unsigned i = 0; i < PATIENCE && nvmi_sync_count(false) == before; i++)
      usleep(LATER_US);
    is_late = is_late && nvmi_sync_count(false) > before;
    before = nvmi_sync_count(false);
    delayed_commit(value);
  }
  *synced_late = 1 + is_late;
  CHECK(nvm_pool_close(delayed_pool) == 0);
}

TEST_ONCE(delayed_daemon_syncs_late) {
  synced_late = &progress_new()->acknowledged;
  delayed_set("20");
  delayed_make(test_path("pool"));
  CHECK(test_child(NULL, become_daemon, NULL) == 0);
  for (unsigned i = 0; i < 2 * PATIENCE && !*synced_late; i++)
    usleep(LATER_US);
  CHECK(*synced_late == 2);
}

static sem_t handed;

static void store_other(int number) {
  (void)number;
  STORE(delayed_root->other, 7);
}

static void hand_over(int number) {
  (void)number;
  CHECK(sem_post(&handed) == 0);
}

/* Has a log until it is told to end: numbers are taken under a lock then. */
static void *keep_a_log(void *goes) {
  delayed_commit(3);
  CHECK(sem_post(&handed) == 0 && sem_wait(goes) == 0);
  return NULL;
}

static void store_in_first(enum nvmi_step step) {
  if (step == NVMI_STEP_COMMIT && delayed_root->other != 7)
    raise(SIGUSR1);
}

/* A handler has stored amid a commit, and one posts inside the next transaction: its words are judged at its
 * end, under order's lock, and its record gets a number there. */
TEST_ONCE(delayed_commit_is_judged_in_order) {
  delayed_set("5");
  delayed_make(test_path("pool"));
  delayed_open(test_path("pool"));
  sem_t goes;
  pthread_t other;
  CHECK(sem_init(&handed, 0, 0) == 0 && sem_init(&goes, 0, 0) == 0);
  CHECK(pthread_create(&other, NULL, keep_a_log, &goes) == 0 && sem_wait(&handed) == 0);
  signal(SIGUSR1, store_other);
  signal(SIGUSR2, hand_over);
  hook_steps(store_in_first);
  delayed_commit(1);
  CHECK(nvm_tx_begin(delayed_pool) == 0);
  STORE(delayed_root->word, 2);
  CHECK(raise(SIGUSR2) == 0 && nvm_tx_commit(delayed_pool) == 0);
  CHECK(sem_post(&goes) == 0 && pthread_join(other, NULL) == 0);
  CHECK(nvm_pool_close(delayed_pool) == 0);
  CHECK(delayed_word_in(test_path("pool")) == 2);
}

enum { HANGS = 10 };

static void end_the_last_thread(void *path) {
  delayed_open(path);
  CHECK(nvm_pool_close(delayed_pool) == 0);
  delayed_open(path);
  delayed_commit(7);
  CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
  pthread_exit(NULL);
}

/* The thread that syncs is the library's own: it does not keep a process whose other threads have ended. Nor does
 * the one that synced for a pool which is closed. */
TEST_ONCE(delayed_ends_with_the_last_thread) {
  delayed_set("1");
  delayed_make(test_path("pool"));
  alarm(HANGS);
  CHECK(test_child(NULL, end_the_last_thread, (void *)(uintptr_t)test_path("pool")) == 0);
  CHECK(delayed_word_in(test_path("pool")) == 7);
}
