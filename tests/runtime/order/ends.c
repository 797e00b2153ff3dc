/* ends.c: what belongs to the end of a transaction, beside its bytes (tx/tx_order.c). */
#include "blocked.h"
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "handing.h"
#include "hooks.h"
#include "order/order.h"
#include "tx/tx_order.h"

#include <string.h>
#include <sys/wait.h>

static unsigned steps, ending, awaiting;

static void look(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT)
    return;
  steps++;
  ending += nvmi_self->ends;
  awaiting += nvmi_self->awaits;
}

/* A handler that comes in a commit among others finds that its thread ends a transaction. */
TEST(ends_are_known_as_such) {
  prepare();
  begin();
  store(0, 0, 1);
  hook_steps(look);
  commit();
  hook_steps(NULL);
  CHECK(steps && ending == steps && !nvmi_self->ends);
  CHECK(!awaiting); /* its turn has come: a close waits for it */
  finish();
}

static unsigned points;

static void event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                  uint64_t extra) {
  (void)pool, (void)kind, (void)place, (void)extra;
}
static void count_point(enum nvm_trace_kind kind, uint64_t extra) {
  points += kind == NVM_TRACE_POINT && extra == 2;
}
static void stored(void *address, const void *bytes, size_t size, bool by_program) {
  (void)address, (void)bytes, (void)size, (void)by_program;
}
static void passed_by(const void *lock) { (void)lock; }
static void compared(const struct nvm_pool *pool) { (void)pool; }
static const struct nvmi_trace_table table = {.event = event,
                                              .alone = count_point,
                                              .stored = stored,
                                              .release = passed_by,
                                              .acquire = passed_by,
                                              .compare = compared};

/* A trace has that a release was the end of what is stored outside transactions. */
TEST(ends_at_a_release_are_traced) {
  prepare();
  pthread_mutex_lock(&all.lock[0]);
  STORE(all.words[0], 1);
  nvmi_trace_table = &table;
  nvmi_slow.tracing = true;
  pthread_mutex_unlock(&all.lock[0]);
  nvmi_slow.tracing = false;
  nvmi_trace_table = NULL;
  CHECK(points == 1 && !nvmi_self->touched);
  finish();
}

static unsigned before, after;
static void before_commit(void) { before++; }
static void after_abort(void) { after++; }

/* Roots go with each commit, and come back with each abort. */
TEST(ends_have_roots) {
  static const struct nvmi_root_events roots = {true, before_commit, after_abort};
  prepare();
  begin();
  STORE(all.words[0], 1);
  nvmi_self->roots = &roots;
  commit();
  unsigned looks = before; /* before the commit, and once more when signals wait */
  CHECK(before > 0 && after == 0 && nvmi_self->roots == &roots);
  begin();
  STORE(all.words[0], 2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  CHECK(before > looks && after == 1); /* the begin commits what roots have before */
  nvmi_self->roots = NULL;
  finish();
}

static unsigned masked,
    inside; /* calls, and steps of a commit, while signals wait; in a transaction */

static void before_masked(void) {
  before++;
  masked += count_blocked() == SIGNALS;
  inside += nvmi_in_transaction(nvmi_self);
}
static void after_masked(void) {
  after++;
  masked += count_blocked() == SIGNALS;
}
static void step_masked(enum nvmi_step step) {
  steps += step == NVMI_STEP_COMMIT;
  masked += step == NVMI_STEP_COMMIT && count_blocked() == SIGNALS;
}
static const struct nvmi_root_events waiting_roots = {true, before_masked, after_masked};

static void begin_with_roots(bool in_order) {
  begin();
  if (in_order)
    store(0, 0, 1);
  else
    STORE(all.words[0], 1);
  nvmi_self->roots = &waiting_roots;
  before = after = masked = inside = steps = 0;
  hook_steps(step_masked);
}

static void end_with_roots(void) {
  hook_steps(NULL);
  nvmi_self->roots = NULL;
  CHECK(count_blocked() == 0);
}

/* Roots are looked at while the commit can still be undone, and once more when signals wait, which then
 * wait until it has ended. */
TEST(ends_have_roots_while_signals_wait) {
  prepare();
  for (unsigned in_order = 0; in_order < 2; in_order++) {
    begin_with_roots(in_order);
    commit();
    CHECK(steps && inside == 1 && before == 2 + in_order && masked == steps + 1 && !after);
    end_with_roots();
    begin_with_roots(in_order);
    CHECK(nvm_tx_abort(all.pool) == 0);
    CHECK(!before && after == 1 && masked == steps + 1);
    end_with_roots();
  }
  finish();
}

/* What another has undone, into whose commit this thread's stores had gone, takes the roots along. */
TEST(ends_of_what_joined_have_roots) {
  prepare();
  nvmi_self->roots = &waiting_roots;
  after = 0;
  CHECK(nvmi_tx_finish_after(nvmi_self, NVMI_WAITED_COMMIT) == NVM_OK && after == 0);
  CHECK(nvmi_tx_finish_after(nvmi_self, NVMI_WAITED_BROKEN) == NVM_EBROKEN && after == 1);
  end_with_roots();
  finish();
}

static bool ended;
static bool has_ended(const struct nvmi_thread *thread) { return thread == nvmi_self && ended; }

/* Behind the entry of a function of `end` no release commits. */
TEST(ends_at_no_release_behind_the_end_of_a_port) {
  static const struct nvmi_root_hooks hooks = {.has_ended = has_ended};
  const struct nvmi_root_hooks *own = nvmi_root_hooks;
  prepare();
  nvmi_root_hooks = &hooks;
  for (unsigned i = 0; i < 2; i++) {
    ended = !i;
    nvmi_self->roots = &waiting_roots;
    store(0, 0, 1);
    CHECK(ended == (nvmi_self->touched != 0));
    nvmi_self->roots = NULL;
  }
  nvmi_root_hooks = own;
  finish();
}

static unsigned unloaded;
static void count_unloaded(void) { unloaded++; }

/* A program that goes on behind a function of `end` is stopped at its next commit, and not by an abort. */
TEST(ends_ask_whether_the_port_goes_on) {
  prepare();
  begin_with_roots(false);
  nvmi_port_unloaded = count_unloaded;
  CHECK(nvm_tx_abort(all.pool) == 0 && !unloaded);
  begin();
  STORE(all.words[0], 1);
  commit();
  CHECK(unloaded == 1);
  nvmi_port_unloaded = NULL;
  end_with_roots();
  finish();
}

/* A close does not wait for a thread that has ended what it had open. */
TEST(ends_at_a_release_are_over) {
  prepare();
  store(0, 0, 1);
  CHECK(!nvmi_self->touched && nvmi_self->uses_open == 0);
  begin();
  store(0, 0, 2);
  CHECK(nvmi_self->node && nvmi_self->uses_open == 0);
  commit();
  CHECK(nvmi_self->uses_open == 0);
  finish();
}

/* Two that depend on each other: the commit of one joins that of the other. */
static void *commit_in_a_cycle(void *number) {
  unsigned self = (unsigned)(uintptr_t)number;
  static const struct nvmi_root_events roots = {true, before_masked, after_masked};
  begin();
  store(self, self * GAP, 1);
  all.step++;
  wait_for(2);
  store(!self, (2 + self) * GAP, 1);
  all.step++;
  wait_for(4);
  nvmi_self->roots = &roots;
  commit();
  CHECK(count_blocked() == 0);
  nvmi_self->roots = NULL;
  return NULL;
}

TEST(ends_in_a_cycle_leave_signals_as_they_were) {
  struct nvm_stats stats;
  prepare();
  pthread_t other = start(commit_in_a_cycle, (void *)1);
  commit_in_a_cycle(NULL);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(nvm_pool_stats(all.pool, &stats) == 0 && stats.joined_commits == 1);
  reopen();
  for (unsigned i = 0; i < 4; i++)
    CHECK(all.words[i * GAP] == 1);
  finish();
}

static bool has_changed;
static void store_roots(void) {
  if (has_changed)
    STORE(all.words[GAP], 5);
  has_changed = false;
}

/* A close commits roots that have changed, as all that its thread has stored. */
TEST(ends_by_a_close_have_roots) {
  static const struct nvmi_root_events roots = {true, store_roots, after_abort};
  prepare();
  nvmi_self->roots = &roots;
  has_changed = true;
  CHECK(nvm_pool_close(all.pool) == 0);
  nvmi_self->roots = NULL;
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
  CHECK(all.words[GAP] == 5);
  finish();
}

static void *hand_on_and_abort(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

static void break_an_atomic_call(void *unused) {
  void *frame = __builtin_frame_address(0);
  (void)unused;
  prepare();
  pthread_t other = start(hand_on_and_abort, NULL);
  wait_for(1);
  __nvm_atomic_enter(frame);
  store(0, GAP, 1);
  all.step = 2;
  __nvm_atomic_leave(frame);
  pthread_join(other, NULL);
}

/* An atomic call has no result that says so: the process ends, and says what could not be committed, and why. */
TEST(ends_of_an_atomic_call_that_is_undone) {
  char said[1000];
  int status = test_child_says(break_an_atomic_call, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(said, "an atomic call could not be committed (built on a transaction"));
}
