/* pointers_safe.c: see pointers_safe.h. */
#include "judge/pointers_safe.h"
#include "heap/heap_chunks.h"

#include "core/gate.h"
#include "core/lines.h"
#include "core/map.h"
#include "core/tracing.h"
#include "heap/heap_types.h"
#include "judge/pointers.h"
#include "types/types.h"

static enum nvm_error check_from(struct nvmi_thread *thread, uint64_t pools, size_t first,
                                 size_t all) {
  for (; pools; pools &= pools - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(pools)];
    size_t count;
    const struct nvmi_line *lines = nvmi_lines_of(thread, log->pool, first, all, &count);
    nvmi_frees_end(log, true); /* what the transaction itself has freed is not judged */
    enum nvm_error error =
        log->pool->check_pointers ? nvmi_check_pointers(log, lines, count) : NVM_OK;
    if (error)
      return error;
  }
  return NVM_OK;
}

enum nvm_error nvmi_pointers_check_all(struct nvmi_thread *thread, uint64_t touched, size_t all) {
  nvmi_trace_alone(NVM_TRACE_OTHER, touched);
  return check_from(thread, touched, 0, all);
}

static void begin_look(struct nvmi_thread *thread) {
  thread->busy++;
  nvmi_compiler_barrier();
  nvmi_gate_enter_touched(thread, 0);
}

static void end_look(struct nvmi_thread *thread) {
  nvmi_compiler_barrier();
  thread->busy--;
}

bool nvmi_pointers_are_safe(struct nvmi_thread *thread, uint64_t pools) {
  begin_look(thread);
  nvmi_lines_collect_all(thread);
  bool safe = !check_from(thread, pools, 0, thread->lines.count);
  end_look(thread);
  return safe;
}

static bool is_judged(uint64_t pools, uintptr_t start, uintptr_t end) {
  struct nvm_pool *pool = nvmi_pool_at((void *)start);
  return pool && pools >> pool->index & 1 && nvmi_is_judged_at(pool, start, end);
}

/* To the list; the other lines stay noted, and so do long ranges and new blocks without pointers. */
static void forget_judged(struct nvmi_thread *thread, uint64_t pools) {
  unsigned kept = 0;
  bool some = false;
  for (unsigned i = 0; i < thread->used_count; i++) {
    struct nvm_line *slot = &thread->table->slot[thread->used[i]];
    uintptr_t start = slot->line * NVM_LINE_SIZE;
    if (!slot->line || !is_judged(pools, start, start + NVM_LINE_SIZE)) {
      thread->used[kept++] = thread->used[i];
      continue;
    }
    if (slot->missing != UINT64_MAX)
      nvmi_line_push(thread, slot->line, ~slot->missing);
    slot->line = 0;
    some = true;
  }
  thread->used_count = kept;
  if (thread->noted_end && is_judged(pools, thread->noted_start, thread->noted_end))
    thread->noted_end = 0;
  for (unsigned i = 0; i < thread->fresh_count && i < NVMI_FRESH_MAX; i++)
    some = some || is_judged(pools, thread->fresh[i].start, thread->fresh[i].start + 1);
  if (some) {
    thread->fresh_count = 0;
    thread->table->fresh_start = thread->table->fresh_end = 0;
  }
}

static bool are_ready(const struct nvmi_thread *thread, uint64_t pools) {
  bool ready = true;
  for (; pools && ready; pools &= pools - 1)
    ready = !nvmi_heap_ready(thread->logs[__builtin_ctzll(pools)]->pool);
  return ready;
}

bool nvmi_pointers_released_are_safe(struct nvmi_thread *thread, uint64_t pools, size_t *judged) {
  begin_look(thread);
  bool safe = are_ready(thread, pools);
  if (safe) {
    if (thread->nested.count) /* of handlers, in a list of their own */
      nvmi_lines_collect_all(thread);
    forget_judged(thread, pools);
    safe = !check_from(thread, pools, *judged, thread->lines.count);
    *judged = thread->lines.count;
  }
  end_look(thread);
  return safe;
}
