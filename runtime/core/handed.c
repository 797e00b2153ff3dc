/* handed.c: see handed.h.
 *
 * The table is one array in parts. Each part is sorted by line, then by sequence. A later part is of later
 * releases, so of one byte the last part has the newest value. What a release adds is a new part; parts
 * at the end are merged until each is at least twice as large as the next. So to add costs little, and a
 * load looks into few parts.
 */
#include "core/handed.h"

#include "base/invariant.h"
#include "base/own_locks.h"
#include "base/sort.h"
#include "core/lines.h"
#include "core/map.h"
#include "core/regions.h"

enum { PARTS_MAX = 48 };

_Atomic size_t nvmi_handed_count;
static struct nvmi_array handed; /* struct nvmi_captured */
static size_t ends[PARTS_MAX];   /* of the parts */
static unsigned parts;
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_HANDED];

static struct nvmi_captured *at(size_t i) { return (struct nvmi_captured *)handed.items + i; }

static size_t start_of(unsigned part) { return part ? ends[part - 1] : 0; }

static int by_line_and_sequence(const void *a, const void *b) {
  const struct nvmi_captured *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* The first of the part that is not before the line and the sequence. */
static size_t find(unsigned part, uint64_t line, uint64_t sequence) {
  struct nvmi_captured key = {.line = line, .sequence = sequence};
  size_t low = start_of(part), high = ends[part];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_line_and_sequence(at(middle), &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static struct nvmi_captured *find_same(const struct nvmi_captured *one) {
  for (unsigned part = parts; part-- > 0;) {
    size_t i = find(part, one->line, one->sequence);
    if (i < ends[part] && at(i)->line == one->line && at(i)->sequence == one->sequence)
      return at(i);
  }
  return NULL;
}

static void tell_count(void) {
  atomic_store_explicit(&nvmi_handed_count, handed.count, memory_order_release);
}

static void sort_part(unsigned part) {
  size_t start = start_of(part);
  if (ends[part] > start)
    nvmi_sort(at(start), ends[part] - start, sizeof(struct nvmi_captured), by_line_and_sequence);
}

/* The last two parts become one while the last is more than half of the other; and if there is no room. */
static void merge(void) {
  while (parts > 1 && (parts == PARTS_MAX || ends[parts - 2] - start_of(parts - 2) <
                                                 2 * (ends[parts - 1] - ends[parts - 2]))) {
    ends[parts - 2] = ends[parts - 1];
    parts--;
    sort_part(parts - 1);
  }
}

#ifndef NDEBUG
static const char *parts_fault(void) {
  if (parts >= PARTS_MAX)
    return "there is no room for a part";
  if (parts > 1 && ends[parts - 2] - start_of(parts - 2) < 2 * (ends[parts - 1] - ends[parts - 2]))
    return "the last part is more than half of the one before";
  return NULL;
}
#endif

static void store_in_place(const struct nvmi_captured *one) {
  uintptr_t start = one->line * NVM_LINE_SIZE;
  nvmi_captured_read(one, (char *)start, start, start + NVM_LINE_SIZE);
}

static void add(const struct nvmi_captured *one) {
  void *address = (void *)(one->line * NVM_LINE_SIZE);
  const struct nvm_pool *pool = nvmi_pool_at(address);
  if (pool && nvmi_region_is_private(pool, nvmi_offset(pool, address)))
    store_in_place(one);
  else if (!nvmi_array_push(&handed, one, sizeof *one))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for bytes that are handed over");
}

void nvmi_handed_add(const struct nvmi_array *captured, size_t first) {
  nvmi_lock(lock);
  for (size_t i = first; i < captured->count; i++)
    add((struct nvmi_captured *)captured->items + i);
  if (handed.count > start_of(parts)) {
    ends[parts++] = handed.count;
    sort_part(parts - 1);
    merge();
  }
  NVMI_HOLDS(parts_fault());
  tell_count();
  nvmi_unlock(lock);
}

/* Lines without bytes leave the table. */
static void forget_empty(void) {
  size_t kept = 0;
  unsigned left = 0;
  size_t i = 0;
  for (unsigned part = 0; part < parts; part++) {
    size_t before = kept;
    for (; i < ends[part]; i++)
      if (at(i)->mask)
        *at(kept++) = *at(i);
    ends[left] = kept;
    left += kept > before;
  }
  parts = left;
  handed.count = kept;
  merge();
  NVMI_HOLDS(parts_fault());
  tell_count();
}

void nvmi_handed_remove(const struct nvmi_array *captured) {
  const struct nvmi_captured *items = captured->items;
  if (!nvmi_handed_some())
    return;
  nvmi_lock(lock);
  for (size_t i = 0; i < captured->count; i++) {
    struct nvmi_captured *found = find_same(&items[i]);
    if (found)
      found->mask = 0;
  }
  forget_empty();
  nvmi_unlock(lock);
}

void nvmi_handed_drop(const struct nvmi_array *captured, uintptr_t start, uintptr_t end) {
  const struct nvmi_captured *items = captured->items;
  if (!nvmi_handed_some())
    return;
  nvmi_lock(lock);
  for (size_t i = 0; i < captured->count; i++) {
    uint64_t first = items[i].line * NVM_LINE_SIZE;
    struct nvmi_captured *found =
        first < end && first + NVM_LINE_SIZE > start ? find_same(&items[i]) : NULL;
    if (found)
      found->mask &= ~nvmi_line_mask(found->line, start, end);
  }
  nvmi_unlock(lock);
}

/* In the order of their releases, and before anybody stores newer bytes in place. A load that finds nothing in the table any more finds it in place. */
static void own(struct nvm_pool *pool, uint64_t offset) {
  if (!nvmi_region_make_private(pool, offset))
    return;
  uint64_t first =
      (uintptr_t)(pool->work + (offset >> NVMI_REGION_SHIFT << NVMI_REGION_SHIFT)) / NVM_LINE_SIZE;
  uint64_t end = first + (UINT64_C(1) << NVMI_REGION_SHIFT) / NVM_LINE_SIZE;
  for (unsigned part = 0; part < parts; part++)
    for (size_t i = find(part, first, 0); i < ends[part] && at(i)->line < end; i++) {
      store_in_place(at(i));
      at(i)->mask = 0;
    }
  forget_empty();
  nvmi_region_ready(pool, offset);
}

void nvmi_handed_own(struct nvm_pool *pool, uint64_t offset) {
  if (nvmi_region_of(pool, offset) == NVMI_REGION_READY)
    return;
  nvmi_lock(lock);
  own(pool, offset);
  nvmi_unlock(lock);
}

/* Of the lines from the one to the other; null: nothing is handed over. */
static const struct nvmi_captured *first_within(uint64_t line, uint64_t last) {
  for (unsigned part = 0; part < parts; part++)
    for (size_t i = find(part, line, 0); i < ends[part] && at(i)->line <= last; i++)
      if (at(i)->mask)
        return at(i);
  return NULL;
}

/* Each takes the lines of a region out of the table. */
void nvmi_handed_settle(uintptr_t start, uintptr_t end) {
  const struct nvmi_captured *one;
  if (!nvmi_handed_some())
    return;
  nvmi_lock(lock);
  while ((one = first_within(start / NVM_LINE_SIZE, (end - 1) / NVM_LINE_SIZE))) {
    void *address = (void *)(one->line * NVM_LINE_SIZE);
    struct nvm_pool *pool = nvmi_pool_at(address);
    if (!pool) /* it is being closed: nobody looks there */
      break;
    own(pool, nvmi_offset(pool, address));
  }
  nvmi_unlock(lock);
}

void nvmi_handed_read(void *to, const void *from, size_t size) {
  uintptr_t start = (uintptr_t)from, end = start + size;
  nvmi_lock(lock); /* a load is no work */
  memcpy(to, from, size);
  for (unsigned part = 0; part < parts; part++)
    for (size_t i = find(part, start / NVM_LINE_SIZE, 0);
         i < ends[part] && at(i)->line <= (end - 1) / NVM_LINE_SIZE; i++)
      nvmi_captured_read(at(i), to, start, end);
  nvmi_unlock(lock);
}
