/* note_volatile.c: see note_volatile.h. */
#include "tx/note_volatile.h"

#include "core/captured.h"
#include "core/lines.h"
#include "core/log_state.h"
#include "core/method.h"
#include "heap/heap_chunks.h"
#include "heap/heap_types.h"
#include "types/judged.h"
#include "types/types.h"

enum { LOOKS_MAX = 4096 /* lines of the transaction; of a longer one the newest are looked at */ };

/* The bytes of the line that the transaction has noted before: what they were then is in the file. */
static uint64_t noted_before(struct nvmi_thread *thread, const struct nvmi_log *log,
                             uint64_t line) {
  const struct nvm_line *slot = nvmi_line_slot(thread, line);
  const struct nvmi_line *lines = thread->lines.items;
  const struct nvmi_captured *captured = log->captured.items;
  uint64_t mask = slot->line == line ? ~slot->missing : 0;
  size_t looks = LOOKS_MAX;
  for (size_t i = thread->lines.count; i-- > 0 && looks; looks--)
    if (line - nvmi_line_first(&lines[i]) < nvmi_line_count(&lines[i]))
      mask |= lines[i].line & NVMI_RANGE ? UINT64_MAX : lines[i].mask;
  for (size_t i = log->captured.count; i-- > 0 && looks; looks--)
    if (captured[i].line == line)
      mask |= captured[i].mask;
  return looks ? mask : UINT64_MAX;
}

struct record {
  const struct nvm_type *type;
  uint64_t block; /* where it starts in the file */
};

/* Of the bytes in `mask`: those of such members that are not as in the file. Other threads may store
 * to them. */
__attribute__((no_sanitize("thread"))) static uint64_t find_changed(const struct nvm_pool *pool,
                                                                    const struct record *record,
                                                                    uint64_t offset,
                                                                    uint64_t mask) {
  const volatile char *work = pool->work + offset, *home = pool->home + offset;
  uint64_t changed = 0;
  for (uint64_t left = mask; left; left &= left - 1) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    if (work[i] != home[i] && nvmi_type_volatile_at(pool, record->type, offset + i - record->block))
      changed |= UINT64_C(1) << i;
  }
  return changed;
}

__attribute__((no_sanitize("thread"))) static void store(const struct nvm_pool *pool,
                                                         uint64_t offset, uint64_t mask) {
  for (; mask; mask &= mask - 1) {
    unsigned i = (unsigned)__builtin_ctzll(mask);
    ((volatile char *)pool->home)[offset + i] = ((const volatile char *)pool->work)[offset + i];
  }
}

static void keep(struct nvmi_thread *thread, const struct nvm_pool *pool,
                 const struct record *record, uintptr_t start, uintptr_t end) {
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++) {
    uint64_t offset = line * NVM_LINE_SIZE - pool->header.base;
    uint64_t changed = find_changed(pool, record, offset, nvmi_line_mask(line, start, end));
    if (changed)
      store(pool, offset, changed & ~noted_before(thread, thread->logs[pool->index], line));
  }
}

void nvmi_note_volatile(struct nvmi_thread *thread, struct nvm_pool *pool, uintptr_t start,
                        uintptr_t end) {
  if (!pool->method->private_work || nvmi_heap_ready(pool))
    return;
  while (start < end) {
    uint32_t index;
    uint64_t at = nvmi_offset(pool, (void *)start), inside;
    const struct nvmi_span *span = nvmi_block_at(pool, at, &index, &inside);
    if (!span)
      return;
    uintptr_t next = start - inside + nvmi_block_size(span);
    unsigned type = span->words[index] - 1u; /* of no type: the highest */
    if (type < pool->type_count && nvmi_judged_words(pool, type) >> NVMI_JUDGED_VOLATILE_BIT & 1) {
      struct record record = {nvmi_type_layout(pool, type), at - inside};
      keep(thread, pool, &record, start, next < end ? next : end);
    }
    start = next;
  }
}
