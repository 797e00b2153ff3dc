/* note_nested.c: the notes of a signal handler that has interrupted the runtime. */
#include "tx/note_nested.h"

#include "base/signals.h"
#include "core/follower.h"
#include "core/lines.h"
#include "core/tracing.h"
#include "log/entry.h"

enum { LINE = NVM_LINE_SIZE, BYTES_MAX = 1024 };

/* Whether handlers have noted all these bytes in the open transaction. A handler that comes again and
 * again during one call to the heap needs no second entry: there the log cannot become longer. No
 * transaction ends during the call, and what was noted outside of one does not count, as its
 * transaction may have ended since: so these bytes have their entry, and are listed. */
static bool is_nested(const struct nvmi_thread *thread, uintptr_t start, uintptr_t end) {
  const struct nvmi_line *items = thread->nested.items;
  for (uint64_t line = start / LINE; line <= (end - 1) / LINE; line++) {
    uint64_t left = nvmi_line_mask(line, start, end);
    for (size_t i = thread->nested_old; i < thread->nested.count && left; i++)
      if (items[i].line == line)
        left &= ~items[i].mask;
    if (left)
      return false;
  }
  return true;
}

void nvmi_note_nested(struct nvmi_thread *thread, struct nvm_pool *pool, uintptr_t start,
                      uintptr_t end) {
  sigset_t before = nvmi_signals_hold();
  struct nvmi_log *log = thread->logs[pool->index];
  if (!log || end - start > BYTES_MAX)
    nvmi_fatal(NVM_ELIMIT, pool->path,
               log ? "a signal handler that interrupts the runtime stores more than 1 KiB at once; "
                     "store less there"
                   : "a signal handler that interrupts the runtime makes the first store of its "
                     "thread to this pool; store to the pool before handlers do");
  if (pool->method->store)
    nvmi_fatal(NVM_ELIMIT, pool->path,
               "a signal handler that interrupts the runtime stores to a pool with the method "
               "'lat' or 'latb'; store outside of handlers");
  if (thread->in_call && is_nested(thread, start, end)) {
    nvmi_signals_release(&before);
    return;
  }
  int depth = thread->busy++;
  thread->handlers_store = true;
  if (pool->follower)
    pool->follower->lost_track(pool);
  nvmi_trace(pool, NVM_TRACE_NOTE, nvmi_offset(pool, (void *)start), end - start);
  nvmi_touch(thread, UINT64_C(1) << pool->index);
  if (pool->method->note) {
    pool->method->note(log, (void *)start, end - start);
    pool->method->drain(log);
  }
  for (uint64_t line = start / LINE; line <= (end - 1) / LINE; line++) {
    struct nvmi_line item = {line, nvmi_line_mask(line, start, end)};
    if (thread->nested.count == thread->nested.room)
      nvmi_fatal(NVM_ELIMIT, pool->path,
                 "signal handlers store too much in one transaction; store less there");
    ((struct nvmi_line *)thread->nested.items)[thread->nested.count++] = item;
  }
  if (!thread->in_call)
    thread->nested_old = thread->nested.count;
  thread->busy = depth;
  nvmi_signals_release(&before);
}
