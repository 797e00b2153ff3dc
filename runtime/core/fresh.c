/* fresh.c: see fresh.h. */
#include "core/fresh.h"

#include "core/lines.h"

enum {
  LINE = NVM_LINE_SIZE,
  LONG_LINES_MIN = 4 /* from this many on a range, which few looks into the table follow */
};

/* All bytes of a new block are this transaction's, and those that it does not store are no pointers
 * that commit judges (block_alloc.c): a long store counts for whole lines, of which no record has
 * to say which bytes. */
static void widen(const struct nvmi_fresh *fresh, uintptr_t *start, uintptr_t *end) {
  uintptr_t first = *start & -(uintptr_t)LINE, last = (*end + LINE - 1) & -(uintptr_t)LINE;
  if (*end - *start < LONG_LINES_MIN * LINE)
    return;
  *start = first < fresh->start ? *start : first;
  *end = last > fresh->end ? *end : last;
}

struct nvmi_fresh *nvmi_fresh_at(struct nvmi_thread *thread, uintptr_t *start, uintptr_t *end) {
  for (unsigned i = 0; i < thread->fresh_count && i < NVMI_FRESH_MAX; i++)
    if (thread->fresh[i].start <= *start && *end <= thread->fresh[i].end) {
      widen(&thread->fresh[i], start, end);
      return &thread->fresh[i];
    }
  return NULL;
}

/* Lines [first, end) of a new block: in the list as a range, each once. */
static void list(struct nvmi_thread *thread, struct nvmi_fresh *fresh, uint64_t first,
                 uint64_t end) {
  if (fresh->listed == fresh->listed_end) {
    fresh->listed = fresh->listed_end = first;
  } else if (first > fresh->listed_end || end < fresh->listed) {
    nvmi_lines_mark(thread, first * LINE, end * LINE);
    return;
  }
  if (first < fresh->listed)
    nvmi_line_push(thread, first | NVMI_RANGE | NVMI_FRESH, fresh->listed - first);
  if (end > fresh->listed_end)
    nvmi_line_push(thread, fresh->listed_end | NVMI_RANGE | NVMI_FRESH, end - fresh->listed_end);
  fresh->listed = first < fresh->listed ? first : fresh->listed;
  fresh->listed_end = end > fresh->listed_end ? end : fresh->listed_end;
}

void nvmi_fresh_mark(struct nvmi_thread *thread, struct nvmi_fresh *fresh, uintptr_t start,
                     uintptr_t end) {
  uint64_t first = (start + LINE - 1) / LINE, last = end / LINE;
  if (last < first + LONG_LINES_MIN) {
    nvmi_lines_mark(thread, start, end);
    return;
  }
  if (start < first * LINE)
    nvmi_line_mark(thread, start / LINE, nvmi_line_mask(start / LINE, start, end));
  else
    nvmi_note_forget(thread, (void *)start, LINE); /* a header, noted before what it is of */
  list(thread, fresh, first, last);
  if (last * LINE < end)
    nvmi_line_mark(thread, last, nvmi_line_mask(last, start, end));
  thread->table->fresh_start = start;
  thread->table->fresh_end = end;
}
