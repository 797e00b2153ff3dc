/* handed.c: see handed.h. The table is sorted by line, then by sequence, so that later bytes of a line
 * are behind earlier ones. */
#include "core/handed.h"

#include "base/own_locks.h"
#include "base/sort.h"
#include "core/lines.h"

_Atomic size_t nvmi_handed_count;
static struct nvmi_array handed; /* struct nvmi_sealed */
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_HANDED];

static struct nvmi_sealed *at(size_t i) { return (struct nvmi_sealed *)handed.items + i; }

static int by_line_and_sequence(const void *a, const void *b) {
  const struct nvmi_sealed *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* The first that is not before the line and the sequence. */
static size_t find(uint64_t line, uint64_t sequence) {
  struct nvmi_sealed key = {.line = line, .sequence = sequence};
  size_t low = 0, high = handed.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_line_and_sequence(at(middle), &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static struct nvmi_sealed *find_same(const struct nvmi_sealed *one) {
  size_t i = find(one->line, one->sequence);
  return i < handed.count && at(i)->line == one->line && at(i)->sequence == one->sequence ? at(i)
                                                                                          : NULL;
}

static void tell_count(void) {
  atomic_store_explicit(&nvmi_handed_count, handed.count, memory_order_release);
}

void nvmi_handed_add(const struct nvmi_array *sealed, size_t first) {
  nvmi_lock(lock);
  for (size_t i = first; i < sealed->count; i++)
    if (!nvmi_array_push(&handed, (struct nvmi_sealed *)sealed->items + i,
                         sizeof(struct nvmi_sealed)))
      nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for bytes that are handed over");
  if (handed.count)
    nvmi_sort(handed.items, handed.count, sizeof(struct nvmi_sealed), by_line_and_sequence);
  tell_count();
  nvmi_unlock(lock);
}

void nvmi_handed_remove(const struct nvmi_array *sealed) {
  const struct nvmi_sealed *items = sealed->items;
  if (!nvmi_handed_some())
    return;
  nvmi_lock(lock);
  for (size_t i = 0; i < sealed->count; i++) {
    struct nvmi_sealed *found = find_same(&items[i]);
    if (found)
      found->mask = 0;
  }
  size_t kept = 0;
  for (size_t i = 0; i < handed.count; i++)
    if (at(i)->mask)
      *at(kept++) = *at(i);
  handed.count = kept;
  tell_count();
  nvmi_unlock(lock);
}

void nvmi_handed_drop(const struct nvmi_array *sealed, uintptr_t start, uintptr_t end) {
  const struct nvmi_sealed *items = sealed->items;
  if (!nvmi_handed_some())
    return;
  nvmi_lock(lock);
  for (size_t i = 0; i < sealed->count; i++) {
    uint64_t first = items[i].line * NVM_LINE_SIZE;
    struct nvmi_sealed *found =
        first < end && first + NVM_LINE_SIZE > start ? find_same(&items[i]) : NULL;
    if (found)
      found->mask &= ~nvmi_line_mask(found->line, start, end);
  }
  nvmi_unlock(lock);
}

void nvmi_handed_read(void *to, const void *from, size_t size) {
  uintptr_t start = (uintptr_t)from, end = start + size;
  struct nvmi_quiet quiet = nvmi_lock_quietly(lock); /* a load is no work */
  memcpy(to, from, size);
  for (size_t i = find(start / NVM_LINE_SIZE, 0);
       i < handed.count && at(i)->line <= (end - 1) / NVM_LINE_SIZE; i++)
    nvmi_sealed_read(at(i), to, start, end);
  nvmi_unlock_quietly(&quiet);
}
