/* lines.c: the lines of the open transaction, where that takes more than a moment: see lines.h. */
#include "core/lines.h"

void nvmi_line_push_more(struct nvmi_thread *thread, uint64_t line, uint64_t mask) {
  struct nvmi_line item = {line, mask};
  if (!nvmi_array_push(&thread->lines, &item, sizeof item))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of touched lines");
}

void nvmi_lines_mark(struct nvmi_thread *thread, uintptr_t start, uintptr_t end) {
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++)
    nvmi_line_mark(thread, line, nvmi_line_mask(line, start, end));
}
