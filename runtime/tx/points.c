/* points.c: commit points, and split points, where a long transaction may end before.
 *
 * What a round of an event loop did for all its clients is committed at once, so that their replies
 * share the fences. But a transaction that has outgrown the cache costs more than the fences it
 * saves: its lines are fetched again for the record, for the check of its pointers and for where
 * they belong, and its blocks, freed for good by the commit alone, are not used again before. A
 * program has places in between where its data are whole, and one transaction may as well be two:
 * there what is open commits once it is long.
 *
 * Long: a command more, and it might not fit one frame of the log (record.h), the way of short
 * commits. On a disk the fence of a record is a sync: there a transaction is long with 64 times as
 * many lines. Only lines are counted; allocations come with lines.
 *
 * In a traced run each is taken: a crash in some run may leave what a split leaves, and `nvmove
 * crash` asks the user's checker about it.
 */
#include "core/gate.h"
#include "core/log_state.h"
#include "core/method.h"
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "tx/tx.h"
#include "tx/tx_order.h"

enum { LINES = 64, LINES_DEAR = 4096 /* where the fence of a record costs more than a long one */ };

static unsigned lines_max(const struct nvmi_thread *thread) {
  for (uint64_t touched = thread->touched; touched; touched &= touched - 1)
    if (thread->logs[__builtin_ctzll(touched)]->pool->persist->behind)
      return LINES_DEAR;
  return LINES;
}

void __nvm_commit_point(void) {
  struct nvmi_thread *thread = nvmi_thread_self();
  nvmi_tx_look_for_a_jump(thread);
  if (NVMI_UNLIKELY(nvmi_port_unloaded)) {
    nvmi_port_unloaded();
    if (nvmi_root_hooks && nvmi_root_hooks->has_ended(thread))
      return;
  }
  nvmi_uses_open(thread);
  thread->passes_points = true;
  nvmi_tx_save_roots(thread);
  if (NVMI_UNLIKELY(nvmi_tracing) && !nvmi_in_transaction(thread))
    nvmi_trace_alone(NVM_TRACE_POINT, 0);
  bool only_read = thread->node && !thread->touched && !nvmi_in_transaction(thread);
  enum nvm_error error = NVMI_UNLIKELY(only_read) ? nvmi_tx_finish_in_order(thread, true) : NVM_OK;
  if (!error)
    error = nvmi_tx_finish_implicit(thread);
  nvmi_used_open(thread);
  if (error && error != NVM_ECHILD)
    nvmi_tx_fatal(error, "what was open at a commit point");
}

static size_t lines_of(const struct nvmi_thread *thread) {
  size_t lines = thread->used_count;
  const struct nvmi_line *list = thread->lines.items;
  for (size_t i = 0; i < thread->lines.count && lines < LINES_DEAR; i++)
    lines += nvmi_line_count(&list[i]);
  return lines;
}

void __nvm_split_point(void) {
  const struct nvmi_thread *thread = nvmi_self;
  size_t lines = thread ? lines_of(thread) : 0;
  if (lines < (NVMI_UNLIKELY(nvmi_tracing) ? 1 : LINES))
    return;
  if (!nvmi_tracing && lines < lines_max(thread))
    return;
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_alone(NVM_TRACE_POINT, 1);
  __nvm_commit_point();
}
