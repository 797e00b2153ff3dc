/* split.c: where a long transaction may end before its commit point.
 *
 * What a turn of an event loop did for all its clients is committed at once, so that their replies
 * share the fences. But a transaction that has outgrown the cache costs more than the fences it
 * saves: its lines are fetched again for the record, for the check of its pointers and for where
 * they belong, and its blocks, freed for good by the commit alone, are not used again before. A
 * program has places in between where its data are whole, and one transaction may as well be two:
 * there what is open commits once it is long.
 *
 * Long: a command more, and it might not fit one frame of the log (record.h), the way of short
 * commits. Only lines are counted; allocations come with lines.
 *
 * In a traced run each is taken: a crash in some run may leave what a split leaves, and `nvmove
 * crash` asks the user's checker about it.
 */
#include "core/tracing.h"

enum { LINES = 64 };

void __nvm_split_point(void) {
  const struct nvmi_thread *thread = nvmi_self;
  unsigned most = NVMI_UNLIKELY(nvmi_tracing) ? 1 : LINES;
  if (!thread || thread->used_count + thread->lines.count < most)
    return;
  if (NVMI_UNLIKELY(nvmi_tracing))
    nvmi_trace_alone(NVM_TRACE_POINT, 1);
  __nvm_commit_point();
}
