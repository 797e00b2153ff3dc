/* redirected.c: programs whose loads and stores are calls (--nvmove-redirect), with all methods: what is stored is
 * loaded, by calls and in place, and after a crash anywhere the pool has whole transactions (wrapping.h).
 */
#include "harness.h"
#include "sectors.h"
#include "simulation.h"
#include "wrapping.h"

#include "core/pool.h"
#include "core/regions.h"

#include <sys/wait.h>
#include <unistd.h>

static struct progress *begin(void) {
  wrapping_redirected = true;
  return progress_new();
}

TEST_WRAPPED(redirected_run) {
  struct progress *progress = begin();
  uint64_t end = test_is_long() ? 3000 : 300;
  for (uint64_t t = 20; t <= end; t += 140) {
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
    struct run run = {test_path("pool"), begin(), transactions};
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

TEST_WRAPPED(redirected_killed_at_appends) { kill_at_each("append", 9, test_is_long() ? 1 : 2); }
TEST_WRAPPED(redirected_killed_at_commit_steps) {
  kill_at_each("commit", 9, test_is_long() ? 1 : 2);
}

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

static void power_fails(const char *method, uint64_t from, uint64_t to) {
  progress = begin();
  first = from;
  last = to;
  power_fail_everywhere(method, prepare_first, act, verify);
}

TEST_ONCE(redirected_power_failure_undo) { power_fails("undo", 4, 6); }
TEST_ONCE(redirected_power_failure_shadow) { power_fails("shadow", 4, 6); }
TEST_ONCE(redirected_power_failure_lat) { power_fails("lat", 4, 6); }
TEST_ONCE(redirected_power_failure_latb) { power_fails("latb", 4, 6); }
TEST_ONCE(redirected_power_failure_long_record_lat) { power_fails("lat", 6, 7); }
TEST_ONCE(redirected_power_failure_many_entries_latb) { power_fails("latb", 6, 7); }
TEST_ONCE(redirected_power_failure_late_lat) { power_fails("lat", 150, 152); }
TEST_ONCE(redirected_power_failure_late_latb) { power_fails("latb", 150, 152); }

static void several(NVM_POOL *pool) { pool->several_logs = true; }

TEST_ONCE(redirected_power_failure_several_lat) {
  workload_opened = several;
  power_fails("lat", 4, 6);
}

/* The process is killed, the next one goes on, then the power fails. */
static void power_fails_after_kills(const char *method) {
  progress = begin();
  first = 4;
  last = 6;
  progress->interrupted = 1;
  power_fail_after_kills(method, prepare_first, act, verify);
}

TEST_ONCE(redirected_power_failure_after_a_kill_lat) { power_fails_after_kills("lat"); }
TEST_ONCE(redirected_power_failure_after_a_kill_latb) { power_fails_after_kills("latb"); }

/* On an ordinary disk the machine ends at any moment. */
static void run_on_disk(const void *path) { wrapping_run(path, progress, last); }

static void machine_ends(const char *method) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", method, 1);
  progress = begin();
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

TEST_ONCE(redirected_on_disk_lat) { machine_ends("lat"); }
TEST_ONCE(redirected_on_disk_latb) { machine_ends("latb"); }
