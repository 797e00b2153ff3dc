/* ends.c: what belongs to the end of a transaction, beside its bytes (tx/tx_order.c). */
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "handing.h"
#include "hooks.h"
#include "order/order.h"

static unsigned steps, ending;

static void look(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT)
    return;
  steps++;
  ending += nvmi_self->ends;
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
