/* repair_statics.c: the chain of tables of static data.
 *
 * A table's run is known by its word in the heap's table, and its header says nothing that its
 * place does not. Only the links between them can be lost. A link that is zero ends the chain, or is
 * damaged: so what counts is whether it leads to each run that has something in it. What it does not
 * lead to comes behind its end, as the links in there say, else in the order of their places. While
 * pointers are being bound anew they are numbers of entries: then there must be one order alone.
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

/* Begun, and with an entry or a link: a run is zero before it is linked. */
static bool has_entries(const struct nvm_pool *pool, uint64_t at) {
  const struct nvm_statics_run *run = (const void *)(pool->home + at);
  return run->self == at && (run->next || *(const uint64_t *)(const void *)(run + 1));
}

/* Runs in the order of the chain that is to be. */
struct order {
  const struct nvmi_repair *repair;
  const struct nvmi_array *runs; /* all, by place */
  struct nvmi_array places;
  uint64_t end; /* what the last link that was followed says: 0, or nothing that it may lead to */
  bool is_known, failed;
};

static void append(struct order *order, uint64_t at) {
  order->failed |= !nvmi_array_push(&order->places, &at, sizeof at);
}

static void follow(struct order *order, uint64_t at) {
  while (is_among(order->runs, at) && !is_among(&order->places, at) && !order->failed &&
         run_at(order->repair, at)->self == at) {
    append(order, at);
    at = run_at(order->repair, at)->next;
  }
  order->end = at;
}

/* Whether a run that the chain does not have yet leads there. */
static bool is_led_to(const struct order *order, uint64_t at) {
  for (size_t i = 0; i < order->runs->count; i++) {
    uint64_t from = ((const uint64_t *)order->runs->items)[i];
    if (from != at && !is_among(&order->places, from) &&
        run_at(order->repair, from)->self == from && run_at(order->repair, from)->next == at)
      return true;
  }
  return false;
}

/* What the links do not lead to: the runs that begin a piece of the chain, and what these lead to;
 * `heads` false: what is left, cycles. */
static void add_pieces(struct order *order, bool heads) {
  unsigned pieces = 0;
  for (size_t i = 0; i < order->runs->count; i++) {
    uint64_t at = ((const uint64_t *)order->runs->items)[i];
    if (is_among(&order->places, at) || !has_entries(order->repair->pool, at) ||
        (heads && is_led_to(order, at)))
      continue;
    follow(order, at);
    order->is_known &= !order->end && heads && ++pieces == 1;
  }
}

/* Whether the chain is already so. */
static bool find_order(struct order *order) {
  follow(order, *(uint64_t *)(void *)(order->repair->pool->home + NVM_STATICS_OFFSET));
  bool ends = !order->end;
  size_t linked = order->places.count;
  order->is_known = true;
  add_pieces(order, true);
  add_pieces(order, false);
  return ends && order->places.count == linked;
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

static void chain(struct nvmi_repair *repair, const struct nvmi_array *order) {
  const uint64_t *places = order->items;
  uint64_t *link = (uint64_t *)(void *)(repair->pool->home + NVM_STATICS_OFFSET);
  for (size_t i = 0; i < order->count; i++) {
    *link = places[i];
    link = &run_at(repair, places[i])->next;
  }
  *link = 0;
  nvmi_mended(repair, "the tables of static data are chained anew");
}

/* False: it cannot be. */
static bool mend_chain(struct nvmi_repair *repair, const struct nvmi_array *runs) {
  struct order order = {.repair = repair, .runs = runs};
  bool holds = find_order(&order);
  bool known = order.is_known || repair->pool->header.statics == NVM_STATICS_BOUND;
  if (order.failed)
    nvmi_left(repair, "out of memory for a list of its tables");
  else if (!holds && known)
    chain(repair, &order.places);
  else if (!holds)
    nvmi_left(repair, "the tables of static data are not linked, while pointers are numbers of "
                      "their entries: their order is lost");
  nvmi_array_free(&order.places, sizeof(uint64_t));
  return !order.failed && (holds || known);
}

/* The others keep their numbers. A pointer to what such an entry named cannot be carried to other addresses:
 * then the opening fails, as for what is gone from the program. */
static void mend_entries(struct nvmi_repair *repair, const struct nvmi_array *runs) {
  for (size_t i = 0; i < runs->count; i++) {
    uint64_t at = ((const uint64_t *)runs->items)[i];
    struct nvm_statics_run *run = run_at(repair, at);
    uint64_t used = run->used;
    unsigned holes = run->self == at ? nvmi_statics_fill_holes(repair->pool, run) : 0;
    if (!holes && run->used != used)
      nvmi_mended(repair, "the table of static data at %#llx: its length is known again",
                  (unsigned long long)at);
    if (holes)
      nvmi_mended(repair, "the table of static data at %#llx: %u entries have lost their names",
                  (unsigned long long)at, holes);
  }
}

bool nvmi_repair_statics(struct nvmi_repair *repair) {
  struct nvmi_array runs = {0};
  bool found = find_runs(repair, &runs);
  if (found) {
    mend_headers(repair, &runs);
    mend_entries(repair, &runs);
  } else {
    nvmi_left(repair, "out of memory for a list of its tables");
  }
  bool known = found && mend_chain(repair, &runs);
  nvmi_array_free(&runs, sizeof(uint64_t));
  if (known && nvmi_statics_start(repair->pool)) {
    nvmi_left_unread(repair);
    return false;
  }
  return known;
}
