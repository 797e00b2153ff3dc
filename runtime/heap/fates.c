/* fates.c: see fates.h. */
#include "heap/fates.h"

#include "base/sort.h"

#include <stdlib.h>

enum { FEW = 64 };

struct fate {
  const struct nvmi_span *span;
  uint32_t index;
  unsigned does;
};

static struct fate fate_by(const struct nvmi_intent *intent) {
  static const unsigned does[] = {[NVMI_ALLOCATED] = NVMI_FATE_ALLOCATES,
                                  [NVMI_FREED] = NVMI_FATE_FREES,
                                  [NVMI_LOCAL] = NVMI_FATE_LOCAL};
  return (struct fate){intent->span, intent->index, does[intent->fate]};
}

static int by_block(const void *a, const void *b) {
  const struct fate *x = a, *y = b;
  if (x->span != y->span)
    return x->span < y->span ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* One of each block. */
bool nvmi_fates_start(struct nvmi_fates *fates, const struct nvmi_log *log) {
  const struct nvmi_intent *intents = log->intents.list.items;
  size_t kept = 0, count = log->intents.list.count;
  *fates = (struct nvmi_fates){.intents = &log->intents.list};
  if (count <= FEW)
    return true;
  if (!nvmi_array_reserve(&fates->sorted, count, sizeof(struct fate)))
    return false;
  struct fate *all = fates->sorted.items;
  for (size_t i = 0; i < count; i++)
    all[i] = fate_by(&intents[i]);
  nvmi_sort(all, count, sizeof *all, by_block);
  for (size_t i = 1; i < count; i++)
    if (by_block(&all[i], &all[kept]) == 0)
      all[kept].does |= all[i].does;
    else
      all[++kept] = all[i];
  fates->sorted.count = kept + 1;
  return true;
}

void nvmi_fates_end(struct nvmi_fates *fates) {
  nvmi_array_free(&fates->sorted, sizeof(struct fate));
}

unsigned nvmi_fate_of(const struct nvmi_fates *fates, const struct nvmi_span *span,
                      uint32_t index) {
  const struct nvmi_intent *intents = fates->intents->items;
  struct fate block = {.span = span, .index = index};
  if (fates->sorted.count) {
    const struct fate *found =
        bsearch(&block, fates->sorted.items, fates->sorted.count, sizeof block, by_block);
    return found ? found->does : 0;
  }
  for (size_t i = 0; i < fates->intents->count; i++)
    if (intents[i].span == span && intents[i].index == index)
      block.does |= fate_by(&intents[i]).does;
  return block.does;
}
