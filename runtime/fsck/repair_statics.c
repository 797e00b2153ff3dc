/* repair_statics.c: the chain of tables of static data.
 *
 * A table's run is known by its word in the heap's table, and its header says nothing that its
 * place does not. Only the links between them can be lost; where they do not lead to each run once,
 * the runs are chained in the order of their places. While pointers are being bound anew they are
 * numbers of entries: then the order must not change.
 */
#include "fsck/repair.h"

#include "heap/heap_types.h"
#include "symbols/statics.h"

static struct nvm_statics_run *run_at(const struct nvmi_repair *repair, uint64_t at) {
  return (struct nvm_statics_run *)(void *)(repair->pool->home + at);
}

/* All runs of the kind, by place. False: out of memory. */
static bool find_runs(const struct nvmi_repair *repair, struct nvmi_array *runs) {
  struct nvm_pool *pool = repair->pool;
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk), at = nvmi_chunk_offset(pool, chunk);
    count = word ? (uint32_t)(word >> 32) : 1;
    if ((word & 0xff) == NVM_CHUNK_STATICS && !nvmi_array_push(runs, &at, sizeof at))
      return false;
  }
  return true;
}

static bool is_among(const struct nvmi_array *runs, uint64_t at) {
  for (size_t i = 0; i < runs->count; i++)
    if (((const uint64_t *)runs->items)[i] == at)
      return true;
  return false;
}

/* Whether the links lead from run to run, and end. */
static bool is_chain(const struct nvmi_repair *repair, const struct nvmi_array *runs) {
  uint64_t at = *(uint64_t *)(void *)(repair->pool->home + NVM_STATICS_OFFSET);
  size_t left = runs->count;
  while (at && left && is_among(runs, at)) {
    at = run_at(repair, at)->next;
    left--;
  }
  return !at;
}

static void mend_headers(struct nvmi_repair *repair, const struct nvmi_array *runs) {
  for (size_t i = 0; i < runs->count; i++) {
    uint64_t at = ((const uint64_t *)runs->items)[i];
    struct nvm_statics_run *run = run_at(repair, at), before = *run;
    run->self = at;
    run->check = nvmi_statics_run_check(repair->pool, run);
    if ((run->self != before.self || run->check != before.check) &&
        (run->self == before.self || run->check == before.check))
      nvmi_mended(repair, "the table of static data at %#llx: its head is whole again",
                  (unsigned long long)at);
    else if (run->self != before.self)
      *run = before; /* one that never was a table: a crash made it */
  }
}

static void chain(struct nvmi_repair *repair, const struct nvmi_array *runs) {
  const uint64_t *places = runs->items;
  uint64_t *link = (uint64_t *)(void *)(repair->pool->home + NVM_STATICS_OFFSET);
  for (size_t i = 0; i < runs->count; i++) {
    struct nvm_statics_run *run = run_at(repair, places[i]);
    if (run->self != places[i])
      continue;
    *link = places[i];
    link = &run->next;
  }
  *link = 0;
  nvmi_mended(repair, "the tables of static data are chained anew");
}

bool nvmi_repair_statics(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  struct nvmi_array runs = {0};
  bool known = find_runs(repair, &runs);
  if (known)
    mend_headers(repair, &runs);
  else
    nvmi_left(repair, "out of memory for a list of its tables");
  if (known && !is_chain(repair, &runs)) {
    known = pool->header.statics == NVM_STATICS_BOUND || runs.count == 1;
    if (known)
      chain(repair, &runs);
    else
      nvmi_left(repair, "the tables of static data are not linked, while pointers are numbers of "
                        "their entries: their order is lost");
  }
  nvmi_array_free(&runs, sizeof(uint64_t));
  if (known && nvmi_statics_start(pool)) {
    nvmi_left_unread(repair);
    return false;
  }
  return known;
}
