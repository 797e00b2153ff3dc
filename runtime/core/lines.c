/* lines.c: the lines of the open transaction, where that takes more than a moment: see lines.h. */
#include "core/lines.h"
#include "base/signals.h"
#include "core/map.h"

void nvmi_line_push_more(struct nvmi_thread *thread, uint64_t line, uint64_t mask) {
  struct nvmi_line item = {line, mask};
  if (!nvmi_array_push(&thread->lines, &item, sizeof item))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of touched lines");
}

void nvmi_lines_mark(struct nvmi_thread *thread, uintptr_t start, uintptr_t end) {
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++)
    nvmi_line_mark(thread, line, nvmi_line_mask(line, start, end));
}

void nvmi_lines_collect(struct nvmi_thread *thread, size_t nested) {
  size_t count = thread->lines.count;
  if (!nvmi_array_reserve(&thread->lines, count + thread->used_count + nested,
                          sizeof(struct nvmi_line)))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of touched lines");
  struct nvmi_line *lines = thread->lines.items;
  for (unsigned i = 0; i < thread->used_count; i++) {
    struct nvm_line *slot = &thread->table->slot[thread->used[i]];
    lines[count] = (struct nvmi_line){slot->line, ~slot->missing};
    /* A jump may have left a note behind; some were given up (nvmi_note_forget). */
    count += slot->line && slot->missing != UINT64_MAX;
    slot->line = 0;
  }
  if (nested)
    memcpy(lines + count, thread->nested.items, nested * sizeof *lines);
  thread->used_count = 0;
  thread->lines.count = count + nested;
  thread->table->fresh_start = thread->table->fresh_end = 0;
  if (NVMI_UNLIKELY(thread->noted_end != 0))
    thread->noted_end = 0;
}

void nvmi_lines_drop_nested(struct nvmi_thread *thread, size_t count) {
  sigset_t before = nvmi_signals_hold();
  struct nvmi_line *items = thread->nested.items;
  thread->nested.count -= count;
  memmove(items, items + count, thread->nested.count * sizeof *items);
  thread->nested_old = thread->nested.count;
  nvmi_signals_release(&before);
}

void nvmi_lines_collect_all(struct nvmi_thread *thread) {
  size_t nested = thread->nested.count;
  nvmi_lines_collect(thread, nested);
  if (nested)
    nvmi_lines_drop_nested(thread, nested);
}

const struct nvmi_line *nvmi_lines_of(struct nvmi_thread *thread, const struct nvm_pool *pool,
                                      size_t first, size_t all, size_t *count) {
  *count = 0;
  if (first == all)
    return NULL;
  if (!nvmi_array_reserve(&thread->lines, 2 * all, sizeof(struct nvmi_line)))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of touched lines");
  struct nvmi_line *lines = thread->lines.items, *own = lines + all;
  for (size_t i = first; i < all; i++)
    if (nvmi_pool_at((void *)(nvmi_line_first(&lines[i]) << 6)) == pool)
      own[(*count)++] = lines[i];
  return own;
}
