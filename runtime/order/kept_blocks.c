/* kept_blocks.c: see kept_blocks.h. */
#include "order/kept_blocks.h"

#include "base/pause.h"
#include "core/gate.h"
#include "heap/heap.h"
#include "log/log.h"
#include "order/node.h"
#include "order/order.h"

struct kept {
  struct nvm_pool *pool;
  struct nvmi_array intents; /* struct nvmi_intent */
  struct nvmi_array nodes;   /* struct nvmi_node *, with a reference each */
  bool given_back;           /* a thread gives them back: the pool stays open until it is done */
};

static struct nvmi_array kept;         /* struct kept; under order.c's mutex */
static _Atomic unsigned some_are_kept; /* their number */

void nvmi_blocks_keep(struct nvmi_log *log, const struct nvmi_array *nodes) {
  struct kept one = {.pool = log->pool};
  struct nvmi_intent *intents = log->intents.list.items;
  size_t left = 0;
  for (size_t i = 0; i < log->intents.list.count; i++)
    if (intents[i].fate == NVMI_ALLOCATED)
      nvmi_order_push(&one.intents, &intents[i], sizeof *intents);
    else
      intents[left++] = intents[i];
  log->intents.list.count = left;
  if (!one.intents.count)
    return;
  for (size_t i = 0; i < nodes->count; i++) {
    struct nvmi_node *node = ((struct nvmi_node **)nodes->items)[i];
    node->references++;
    nvmi_order_push(&one.nodes, &node, sizeof(struct nvmi_node *));
  }
  nvmi_order_push(&kept, &one, sizeof one);
  some_are_kept = (unsigned)kept.count;
}

static bool all_ended(const struct kept *one) {
  for (size_t i = 0; i < one->nodes.count; i++)
    if (!nvmi_node_ended(((struct nvmi_node **)one->nodes.items)[i]))
      return false;
  return true;
}

static struct kept *kept_at(size_t i) { return (struct kept *)kept.items + i; }

/* Out of the list. */
static struct kept take_at(size_t i) {
  struct kept taken = *kept_at(i);
  *kept_at(i) = *kept_at(--kept.count);
  some_are_kept = (unsigned)kept.count;
  for (size_t n = 0; n < taken.nodes.count; n++)
    nvmi_node_drop(((struct nvmi_node **)taken.nodes.items)[n]);
  nvmi_array_free(&taken.nodes, sizeof(struct nvmi_node *));
  return taken;
}

/* One that nobody waits for any more: it stays in the list until it is done. */
static bool begin_one(struct kept *begun) {
  bool found = false;
  nvmi_order_lock();
  for (size_t i = 0; i < kept.count && !found; i++)
    if (!kept_at(i)->given_back && all_ended(kept_at(i))) {
      kept_at(i)->given_back = found = true;
      *begun = *kept_at(i);
    }
  nvmi_order_unlock();
  return found;
}

static void end_one(const struct kept *done) {
  nvmi_order_lock();
  for (size_t i = kept.count; i-- > 0;)
    if (kept_at(i)->intents.items == done->intents.items)
      take_at(i);
  nvmi_order_unlock();
}

/* Those of the pool that nobody gives back just now leave the list. False: others are left. */
static bool take_those_of(const struct nvm_pool *pool, uint64_t *count) {
  bool all = true;
  nvmi_order_lock();
  for (size_t i = kept.count; i-- > 0;) {
    if (kept_at(i)->pool != pool)
      continue;
    if (kept_at(i)->given_back) {
      all = false;
      continue;
    }
    struct kept taken = take_at(i);
    *count += taken.intents.count;
    nvmi_array_free(&taken.intents, sizeof(struct nvmi_intent));
  }
  nvmi_order_unlock();
  return all;
}

uint64_t nvmi_blocks_closing(const struct nvm_pool *pool) {
  uint64_t count = 0;
  for (unsigned tries = 0; !take_those_of(pool, &count); tries++)
    nvmi_pause(tries);
  return count;
}

void nvmi_blocks_give_back(struct nvmi_thread *thread) {
  struct kept one;
  while (some_are_kept && begin_one(&one)) {
    nvmi_uses_open(thread); /* the log is not taken away meanwhile */
    struct nvmi_log *log = nvmi_log_of(thread, one.pool);
    if (!log)
      nvmi_fatal_recorded(one.pool->path, "no log for blocks that become free");
    thread->busy++;
    nvmi_compiler_barrier();
    nvmi_gate_enter(thread, UINT64_C(1) << one.pool->index);
    nvmi_heap_drop(log, &one.intents);
    nvmi_compiler_barrier();
    thread->busy--;
    nvmi_used_open(thread);
    nvmi_order_post(thread);
    end_one(&one);
    nvmi_array_free(&one.intents, sizeof(struct nvmi_intent));
  }
}

void nvmi_blocks_forget(void) {
  kept.count = 0;
  some_are_kept = 0;
}

#ifndef NDEBUG
void nvmi_blocks_list_references(void (*refer)(struct nvmi_node *)) {
  for (size_t i = 0; i < kept.count; i++)
    for (size_t n = 0; n < kept_at(i)->nodes.count; n++)
      refer(((struct nvmi_node **)kept_at(i)->nodes.items)[n]);
}

const char *nvmi_blocks_fault(void) {
  for (size_t i = 0; i < kept.count; i++) {
    const struct kept *one = kept_at(i);
    if (!one->intents.count || !one->nodes.count)
      return "blocks are kept while somebody has their addresses";
    for (size_t n = 0; n < one->intents.count; n++)
      if (((struct nvmi_intent *)one->intents.items)[n].fate != NVMI_ALLOCATED)
        return "kept blocks were allocated";
  }
  return kept.count == some_are_kept ? NULL : "all see how many blocks are kept";
}
#endif
