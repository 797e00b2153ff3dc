/* wrapped.c: the explicit interface, and loads and stores that the compiler made calls, with all methods: what is stored is loaded, and after a crash anywhere
 * the pool has whole transactions (wrapping.h). */
#include "harness.h"
#include "sectors.h"
#include "simulation.h"
#include "wrapping.h"

#include "core/pool.h"

#include "nvmove/wrap.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_in_turns(void) {
  struct progress *progress = progress_new();
  uint64_t end = test_is_long() ? 3000 : 300;
  for (uint64_t t = 20; t <= end;
       t += 140) { /* each time a pool that another method may have left */
    wrapping_run(test_path("pool"), progress, t);
    CHECK(wrapping_verify(test_path("pool"), progress) == t);
  }
}

struct run {
  const char *path;
  struct progress *progress;
  uint64_t end;
};

static void run_wrapping(void *argument) {
  struct run *run = argument;
  wrapping_run(run->path, run->progress, run->end);
}

static void kill_at_each(const char *kind, uint64_t transactions, unsigned stride) {
  unsigned kills = 0;
  for (unsigned n = 1;; n += stride + n / 20) {
    struct run run = {test_path("pool"), progress_new(), transactions};
    char kill[64];
    snprintf(kill, sizeof kill, "%s:%u", kind, n);
    int status = test_child(kill, run_wrapping, &run);
    if (!test_was_killed(status)) {
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      break;
    }
    kills++;
    wrapping_verify(run.path, run.progress);
    wrapping_run(run.path, run.progress, transactions); /* life goes on */
    CHECK(wrapping_verify(run.path, run.progress) == transactions);
    unlink(run.path);
  }
  CHECK(kills >= transactions / stride);
}

TEST_WRAPPED(wrapped_run) { run_in_turns(); }
TEST_WRAPPED(wrapped_killed_at_appends) { kill_at_each("append", 9, test_is_long() ? 1 : 2); }

TEST_WRAPPED(wrapped_killed_at_commit_steps) { kill_at_each("commit", 9, test_is_long() ? 1 : 2); }

/* Shared by the processes of a test whose power fails. */
static struct progress *progress;
static uint64_t first, last; /* transactions before the failure, and behind it */

static void prepare_first(void *path) { wrapping_run(path, progress, first); }

static void act(void *argument) {
  const struct power_cut *cut = argument;
  progress->acknowledged = first;
  power_arm(cut);
  wrapping_run(cut->path, progress, last);
}

static void verify(const char *image) { wrapping_verify(image, progress); }

static void power_fails(const char *method, uint64_t begin, uint64_t end) {
  progress = progress_new();
  first = begin;
  last = end;
  power_fail_everywhere(method, prepare_first, act, verify);
}

TEST_ONCE(wrapped_power_failure_undo) { power_fails("undo", 4, 6); }
TEST_ONCE(wrapped_power_failure_shadow) { power_fails("shadow", 4, 6); }
TEST_ONCE(wrapped_power_failure_lat) { power_fails("lat", 4, 6); }
TEST_ONCE(wrapped_power_failure_latb) { power_fails("latb", 4, 6); }
TEST_ONCE(wrapped_power_failure_long_record_lat) { power_fails("lat", 6, 7); }
TEST_ONCE(wrapped_power_failure_many_entries_latb) { power_fails("latb", 6, 7); }
TEST_ONCE(wrapped_power_failure_late_lat) { power_fails("lat", 150, 152); }
TEST_ONCE(wrapped_power_failure_late_latb) { power_fails("latb", 150, 152); }

static void several(NVM_POOL *pool) { pool->several_logs = true; }

TEST_ONCE(wrapped_power_failure_several_lat) {
  workload_opened = several;
  power_fails("lat", 4, 6);
}

/* New blocks, one a wrap, while the log switches: earlier records are not replayed any more, so the blocks have
 * to be in place. */
enum { BLOCKS = 260, WORDS_MAX = 9000 /* of a large block */ };
static unsigned blocks, block_words;

static void link_blocks(NVM_POOL *pool) {
  static uint64_t words[WORDS_MAX];
  uint64_t *slots = nvm_pool_root(pool);
  for (uint64_t i = 0; i < blocks; i++) {
    CHECK(nvm_wrap_open(pool) == 0);
    uint64_t *block = nvm_alloc(pool, 0, block_words * sizeof *block);
    CHECK(block != NULL);
    for (unsigned k = 0; k < block_words; k++)
      words[k] = 1000 * i + k;
    nvm_wrap_write(&block[4], &words[4], (block_words - 4) * sizeof *block);
    for (unsigned k = 0; k < 4; k++)
      nvm_wrap_store64(&block[k], words[k]);
    nvm_wrap_store64(&slots[i], (uint64_t)(uintptr_t)block);
    CHECK(nvm_wrap_close(pool) == 0);
    progress->acknowledged = i + 1;
  }
}

static void make_slots(void *path) {
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_wrap_open(pool) == 0);
  CHECK(nvm_pool_set_root(pool, nvm_calloc(pool, 0, BLOCKS, sizeof(uint64_t))) == 0);
  CHECK(nvm_wrap_close(pool) == 0 && nvm_pool_close(pool) == 0);
}

static void link_until_failure(void *argument) {
  const struct power_cut *cut = argument;
  progress->acknowledged = 0;
  power_arm(cut);
  link_blocks(test_open(cut->path));
}

static void verify_links(const char *image) {
  NVM_POOL *pool = test_open(image);
  const uint64_t *slots = nvm_pool_root(pool);
  for (uint64_t i = 0; i < blocks; i++) {
    const uint64_t *block = (const uint64_t *)(uintptr_t)slots[i];
    CHECK(block ? i <= progress->acknowledged : i >= progress->acknowledged);
    for (unsigned k = 0; block && k < block_words; k++)
      CHECK(block[k] == 1000 * i + k);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static void power_fails_in_new_blocks(const char *method, unsigned count, unsigned words) {
  progress = progress_new();
  blocks = count;
  block_words = words;
  power_fail_everywhere(method, make_slots, link_until_failure, verify_links);
}

TEST_ONCE(wrapped_power_failure_turning_lat) { power_fails_in_new_blocks("lat", BLOCKS, 8); }
TEST_ONCE(wrapped_power_failure_turning_latb) { power_fails_in_new_blocks("latb", BLOCKS, 8); }
TEST_ONCE(wrapped_power_failure_long_stores_lat) { power_fails_in_new_blocks("lat", 60, 200); }
TEST_ONCE(wrapped_power_failure_long_stores_latb) { power_fails_in_new_blocks("latb", 6, 200); }
TEST_ONCE(wrapped_power_failure_large_lat) { power_fails_in_new_blocks("lat", 4, WORDS_MAX); }

TEST_ONCE(wrapped_power_failure_several_latb) {
  workload_opened = several;
  power_fails("latb", 4, 6);
}

/* The process is killed, the next one goes on, then the power fails. */
static void power_fails_after_kills(const char *method) {
  progress = progress_new();
  first = 4;
  last = 6;
  progress->interrupted = 1;
  power_fail_after_kills(method, prepare_first, act, verify);
}

/* On an ordinary disk the machine ends at any moment. */
static void run_on_disk(const void *path) { wrapping_run(path, progress, last); }

static void machine_ends(const char *method) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", method, 1);
  progress = progress_new();
  last = 4;
  wrapping_run(test_path("start"), progress, last);
  last = 10;
  struct sectors_end end = {.path = test_path("pool"),
                            .image = test_path("image"),
                            .at = 1,
                            .seed = 1 + test_seed(),
                            .run = run_on_disk,
                            .argument = test_path("pool")};
  unsigned states = 0;
  for (; progress->acknowledged = 4, sectors_end_machine(&end, test_path("start"));
       end.at += 1 + end.at / (test_is_long() ? 400 : 12), end.seed += 7) {
    wrapping_verify(end.image, progress);
    states++;
  }
  CHECK(states > 20);
}

TEST_ONCE(wrapped_on_disk_lat) { machine_ends("lat"); }
TEST_ONCE(wrapped_on_disk_latb) { machine_ends("latb"); }

TEST_ONCE(wrapped_power_failure_after_a_kill_lat) { power_fails_after_kills("lat"); }
TEST_ONCE(wrapped_power_failure_after_a_kill_latb) { power_fails_after_kills("latb"); }

/* The same of a program of --nvmove-redirect. */
#define REDIRECTED(kind, name, call)                                                               \
  kind(name) {                                                                                     \
    wrapping_redirected = true;                                                                    \
    call;                                                                                          \
  }
REDIRECTED(TEST_WRAPPED, redirected_run, run_in_turns())
REDIRECTED(TEST_WRAPPED, redirected_killed_at_appends,
           kill_at_each("append", 9, test_is_long() ? 1 : 2))
REDIRECTED(TEST_WRAPPED, redirected_killed_at_commit_steps,
           kill_at_each("commit", 9, test_is_long() ? 1 : 2))
REDIRECTED(TEST_ONCE, redirected_power_failure_undo, power_fails("undo", 4, 6))
REDIRECTED(TEST_ONCE, redirected_power_failure_shadow, power_fails("shadow", 4, 6))
REDIRECTED(TEST_ONCE, redirected_power_failure_lat, power_fails("lat", 4, 6))
REDIRECTED(TEST_ONCE, redirected_power_failure_latb, power_fails("latb", 4, 6))
REDIRECTED(TEST_ONCE, redirected_power_failure_long_record_lat, power_fails("lat", 6, 7))
REDIRECTED(TEST_ONCE, redirected_power_failure_many_entries_latb, power_fails("latb", 6, 7))
REDIRECTED(TEST_ONCE, redirected_power_failure_late_lat, power_fails("lat", 150, 152))
REDIRECTED(TEST_ONCE, redirected_power_failure_late_latb, power_fails("latb", 150, 152))
REDIRECTED(TEST_ONCE, redirected_power_failure_several_lat,
           (workload_opened = several, power_fails("lat", 4, 6)))
REDIRECTED(TEST_ONCE, redirected_power_failure_after_a_kill_lat, power_fails_after_kills("lat"))
REDIRECTED(TEST_ONCE, redirected_power_failure_after_a_kill_latb, power_fails_after_kills("latb"))
REDIRECTED(TEST_ONCE, redirected_on_disk_lat, machine_ends("lat"))
REDIRECTED(TEST_ONCE, redirected_on_disk_latb, machine_ends("latb"))
