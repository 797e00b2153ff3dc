/* heap_runs.c: free runs of chunks, in DRAM.
 *
 * Runs of 2^k..2^(k+1)-1 chunks share a list. A request takes the first that fits from its own
 * list, else any from a longer one. The length stands at both ends of a run, so a freed run finds
 * its neighbours.
 */
#include "heap/heap_runs.h"

#include "heap/heap_types.h"

#include <assert.h>

static unsigned bin_of(uint32_t count) { return 31 - (unsigned)__builtin_clz(count); }

static void set_length(struct nvmi_runs *runs, uint32_t first, uint32_t count, uint32_t value) {
  runs->length[first] = value;
  runs->length[first + count - 1] = value;
}

static void unlink_run(struct nvmi_runs *runs, uint32_t first) {
  uint32_t count = runs->length[first], next = runs->next[first], prev = runs->prev[first];
  assert(count && runs->length[first + count - 1] == count);
  if (prev)
    runs->next[prev - 1] = next;
  else
    runs->first[bin_of(count)] = next;
  if (next)
    runs->prev[next - 1] = prev;
  set_length(runs, first, count, 0);
}

static void link_run(struct nvmi_runs *runs, uint32_t first, uint32_t count) {
  uint32_t *list = &runs->first[bin_of(count)];
  assert(!runs->length[first] && !runs->length[first + count - 1]); /* it is free once */
  set_length(runs, first, count, count);
  runs->prev[first] = 0;
  runs->next[first] = *list;
  if (*list)
    runs->prev[*list - 1] = first + 1;
  *list = first + 1;
}

void nvmi_runs_add(struct nvmi_heap *heap, uint32_t first, uint32_t count) {
  struct nvmi_runs *runs = &heap->runs;
  uint32_t end = first + count;
  if (end < heap->chunks && runs->length[end]) {
    uint32_t after = runs->length[end];
    unlink_run(runs, end);
    end += after;
  }
  if (first > 0 && runs->length[first - 1]) {
    uint32_t before = runs->length[first - 1];
    unlink_run(runs, first - before);
    first -= before;
  }
  link_run(runs, first, end - first);
}

uint32_t nvmi_runs_take(struct nvmi_heap *heap, uint32_t count, uint32_t *length) {
  struct nvmi_runs *runs = &heap->runs;
  for (unsigned bin = bin_of(count); bin < 32; bin++) {
    for (uint32_t at = runs->first[bin]; at; at = runs->next[at - 1]) {
      uint32_t first = at - 1, found = runs->length[first];
      if (found < count)
        continue;
      unlink_run(runs, first);
      if (found > count)
        link_run(runs, first + count, found - count);
      *length = found;
      return first;
    }
  }
  return NVMI_NO_RUN;
}

uint32_t nvmi_runs_last(const struct nvmi_heap *heap) {
  return heap->chunks ? heap->runs.length[heap->chunks - 1] : 0;
}

void nvmi_runs_cut(struct nvmi_heap *heap, uint32_t chunk) {
  uint32_t first = heap->chunks - nvmi_runs_last(heap);
  unlink_run(&heap->runs, first);
  if (chunk > first)
    link_run(&heap->runs, first, chunk - first);
}
