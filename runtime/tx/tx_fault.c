/* tx_fault.c: see tx_fault.h. */
#include "tx/tx_fault.h"

#include "log/log.h"

#ifndef NDEBUG
static const char *table_fault(const struct nvmi_thread *thread) {
  for (unsigned i = 0; i < NVM_LINE_SLOTS; i++)
    if (thread->table->slot[i].line)
      return "the table of lines is empty when all of them are listed";
  return NULL;
}

const char *nvmi_tx_fault(const struct nvmi_thread *thread, uint64_t pools) {
  if (thread->lines.count || thread->used_count)
    return "a transaction that has ended has no lines";
  if (thread->fresh_count || thread->fresh_stores)
    return "a transaction that has ended knows no new blocks";
  if (thread->ahead_count || thread->table->ahead)
    return "a transaction that has ended has noted nothing ahead";
  for (const char *fault; pools; pools &= pools - 1)
    if ((fault = nvmi_log_fault(thread->logs[__builtin_ctzll(pools)])))
      return fault;
  return thread->busy > 0 ? table_fault(thread) : "a thread is at work while it ends a transaction";
}
#endif
