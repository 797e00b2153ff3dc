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
 */
#include "core/internal.h"

enum { LINES = 64 };

void __nvm_split_point(void) {
  const struct nvmi_thread *thread = nvmi_self;
  if (thread && thread->used_count + thread->lines.count >= LINES)
    __nvm_commit_point();
}
