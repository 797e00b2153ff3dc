/* power.c: the power fails at any event of a workload (simulation.h), also during recovery. */
#define _GNU_SOURCE
#include "core/pool.h"
#include "harness.h"
#include "simulation.h"
#include "sparse.h"
#include "workload.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct failure {
  struct power_cut cut;
  struct progress *progress;
  uint64_t begin, end; /* transactions */
};

static void run_until_failure(void *argument) {
  struct failure *f = argument;
  power_arm(&f->cut);
  workload_run(f->cut.path, f->progress, f->end);
}

/* The power fails at event `f->cut.at` of the transactions. False: there are not so many
 * events. */
static bool fail_once(struct failure *f, const char *start) {
  f->cut.path = test_path("pool");
  f->cut.image = test_path("image");
  f->progress->acknowledged = f->begin;
  sparse_copy(start, f->cut.path);
  int status = test_child(NULL, run_until_failure, f);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
  return WEXITSTATUS(status) == POWER_CUT;
}

static const char *prepared_pool(uint64_t transactions) {
  const char *start = test_path("start");
  struct progress *progress = progress_new();
  setenv("NVMOVE_DOMAIN", "power", 1);
  workload_run(start, progress, transactions);
  return start;
}

static void power_fails(const char *method, uint64_t begin, unsigned stride) {
  setenv("NVMOVE_METHOD", method, 1);
  struct failure f = {.progress = progress_new(), .begin = begin, .end = begin + 12};
  const char *start = prepared_pool(begin);
  unsigned states = 0;
  stride = test_is_long() ? stride : stride / 3;
  for (f.cut.at = 1, f.cut.seed = 1 + test_seed();;
       f.cut.at += 1 + f.cut.at / stride, f.cut.seed++) {
    if (!fail_once(&f, start))
      break;
    workload_verify(f.cut.image, f.progress);
    states++;
  }
  CHECK(states > (test_is_long() ? 100 : 40));
}

TEST_ONCE(power_failure_undo) { power_fails("undo", 4, 100); }

TEST_ONCE(power_failure_shadow) { power_fails("shadow", 4, 100); }

/* A transaction whose commit record is fenced along with its data, and an abort: each event, and of
 * what is on its way each share. */
TEST_ONCE(power_failure_at_each_share) {
  setenv("NVMOVE_METHOD", "undo", 1);
  struct failure f = {.progress = progress_new(), .begin = 4, .end = 6};
  const char *start = prepared_pool(4);
  unsigned states = 0;
  bool failed = true;
  for (f.cut.at = 1; failed; f.cut.at++)
    for (unsigned i = test_is_long() ? 0 : f.cut.at % 5; i < 10 && failed; states++) {
      f.cut.seed = i + 25 * test_seed();
      failed = fail_once(&f, start);
      if (failed)
        workload_verify(f.cut.image, f.progress);
      i += test_is_long() ? 1 : 5;
    }
  CHECK(states > (test_is_long() ? 300 : 60));
}

/* As if other threads had logs: commits wait for their stores in place, and store no neighbours. */
static void several(NVM_POOL *pool) { pool->several_logs = true; }

TEST_ONCE(power_failure_several_undo) {
  workload_opened = several;
  power_fails("undo", 4, 60);
}

TEST_ONCE(power_failure_several_shadow) {
  workload_opened = several;
  power_fails("shadow", 4, 60);
}

/* Runs come free and get another use. */
TEST_ONCE(power_failure_late_undo) { power_fails("undo", 150, 40); }

TEST_ONCE(power_failure_late_shadow) { power_fails("shadow", 150, 40); }

/* The power fails, and again during recovery. */
static void power_fails_twice(const char *method) {
  setenv("NVMOVE_METHOD", method, 1);
  struct failure f = {.progress = progress_new(), .begin = 4, .end = 16};
  const char *start = prepared_pool(4), *once = test_path("once");
  for (f.cut.at = 40, f.cut.seed = 7; f.cut.at < 400; f.cut.at += 90) {
    f.end = 16;
    if (!fail_once(&f, start))
      break;
    sparse_copy(f.cut.image, once);
    uint64_t acknowledged = f.progress->acknowledged;
    struct failure again = f;
    again.end = 0; /* open, recover, close */
    again.begin = acknowledged;
    for (again.cut.at = 1; again.cut.at < 60; again.cut.at++, again.cut.seed++) {
      again.progress = progress_new();
      bool failed = fail_once(&again, once);
      workload_verify(failed ? again.cut.image : again.cut.path, again.progress);
      if (!failed)
        break;
    }
  }
}

TEST_ONCE(power_failure_during_recovery_undo) { power_fails_twice("undo"); }

TEST_ONCE(power_failure_during_recovery_shadow) { power_fails_twice("shadow"); }

/* The process is killed, the next one goes on with what it finds in the file, some of which is not
 * durable; then the power fails. */
static void power_fails_after_a_kill(const char *method, bool in_recovery) {
  setenv("NVMOVE_METHOD", method, 1);
  const char *start = prepared_pool(4), *killed = test_path("killed"), *media = test_path("media");
  struct progress *progress = progress_new();
  unsigned states = 0;
  const unsigned share = test_is_long() ? 1 : 5;
  for (uint64_t at = 1;; at += share + at * share / 60) {
    struct failure kill = {.progress = progress, .begin = 4, .end = 16, .cut.at = at};
    kill.cut.kills = true;
    if (!fail_once(&kill, start))
      break;
    sparse_copy(kill.cut.path, killed);
    sparse_copy(kill.cut.image, media);
    uint64_t begun = progress->acknowledged;
    progress->interrupted = 1;
    for (uint64_t next = in_recovery ? 1 : 20 + at % 31; next < (in_recovery ? 40 : 400);
         next = in_recovery ? next + share + next / 8 : next * 3 + at % 7) {
      struct failure f = {.progress = progress, .begin = begun, .end = begun + 3, .cut.at = next};
      f.cut.media = media;
      f.cut.loses_old = in_recovery;
      bool failed = fail_once(&f, killed);
      workload_verify(failed ? f.cut.image : f.cut.path, progress);
      states++;
      if (!failed)
        break;
    }
  }
  CHECK(states > 100 / share);
}

TEST_ONCE(power_failure_after_a_kill_undo) { power_fails_after_a_kill("undo", false); }

TEST_ONCE(power_failure_after_a_kill_shadow) { power_fails_after_a_kill("shadow", false); }

/* A line of the log that the dead process had not flushed was read, and is gone. */
TEST_ONCE(power_failure_after_a_kill_in_recovery_undo) { power_fails_after_a_kill("undo", true); }

TEST_ONCE(power_failure_after_a_kill_in_recovery_shadow) {
  power_fails_after_a_kill("shadow", true);
}

static void verify_image(void *argument) {
  struct failure *f = argument;
  workload_verify(f->cut.image, f->progress);
}

/* The simulation is worth something: with flushes or fences that do nothing it finds wrong states.
 */
static void notices(const char *method, bool broken_flush, bool broken_fence) {
  setenv("NVMOVE_METHOD", method, 1);
  struct failure f = {.progress = progress_new(),
                      .begin = 4,
                      .end = 16,
                      .cut.broken_flush = broken_flush,
                      .cut.broken_fence = broken_fence};
  const char *start = prepared_pool(4);
  unsigned wrong = 0;
  for (f.cut.at = 20, f.cut.seed = 1; fail_once(&f, start) && !wrong; f.cut.at += 7, f.cut.seed++)
    wrong += test_child(NULL, verify_image, &f) != 0;
  CHECK(wrong > 0);
}

TEST_ONCE(simulation_notices_missing_flushes) {
  if (!freopen("/dev/null", "w", stderr))
    abort();
  notices("undo", true, false);
}

TEST_ONCE(simulation_notices_missing_fences) {
  if (!freopen("/dev/null", "w", stderr))
    abort();
  notices("shadow", false, true);
}
