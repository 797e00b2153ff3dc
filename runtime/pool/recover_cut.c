/* recover_cut.c: see recover_cut.h. */
#include "pool/recover_cut.h"

#include "base/sort.h"
#include "gc/counts.h"

bool nvmi_cut_add(struct nvmi_cut *cut, uint64_t order, unsigned slot, uint64_t transaction) {
  struct nvmi_numbered numbered = {order, transaction, slot};
  return nvmi_array_push(&cut->numbers, &numbered, sizeof numbered);
}

static int by_order(const void *a, const void *b) {
  uint64_t x = ((const struct nvmi_numbered *)a)->order,
           y = ((const struct nvmi_numbered *)b)->order;
  return x < y ? -1 : x > y;
}

_Static_assert(sizeof(struct nvmi_numbered) <= NVMI_SORT_BYTES, "numbers can be sorted");

uint64_t nvmi_cut_find(struct nvm_pool *pool, struct nvmi_cut *cut, uint64_t bound) {
  const struct nvmi_numbered *numbers = cut->numbers.items;
  uint64_t next = bound ? bound : 1; /* the first that a pool gives */
  if (cut->numbers.count)
    nvmi_sort(cut->numbers.items, cut->numbers.count, sizeof *numbers, by_order);
  for (size_t i = 0; i < cut->numbers.count && numbers[i].order <= next; i++) {
    next += numbers[i].order == next;
    if (pool->counts)
      nvmi_counts_ended(pool, numbers[i].slot, numbers[i].transaction);
  }
  return next;
}

void nvmi_cut_free(struct nvmi_cut *cut) {
  nvmi_array_free(&cut->numbers, sizeof(struct nvmi_numbered));
}
