/* collect.c: mark and sweep: what cannot be reached from the root is freed.
 *
 * Blocks are freed by ordinary transactions, a few hundred each: a crash leaves some of the garbage
 * for the next time and does no other harm.
 */
#include "gc/collect.h"
#include "core/standstill.h"
#include "gc/counts.h"
#include "gc/reach.h"
#include "heap/heap_types.h"
#include "tx/tx.h"
#include "types/crew.h"
#include "types/types.h"
#include "types/words.h"

#include "nvmove/inspect.h"

enum { FREED_AT_ONCE = 512 };

/* Of this thread, of another, or on its way from one to another. */
static bool has_open_transaction(struct nvm_pool *pool) {
  const struct nvmi_thread *self = nvmi_thread_self();
  return nvmi_in_transaction(self) || self->touched >> pool->index & 1 ||
         nvmi_others_have_open(pool);
}

int nvmi_check_quiet(struct nvm_pool *pool) {
  if (!pool)
    return nvmi_fail_no_pool();
  if (pool->forked)
    return nvmi_fail(NVM_ECHILD, pool->path,
                     "a forked child cannot read the heap's tables; do it in the parent");
  enum nvm_error error = nvmi_tx_finish_implicit(nvmi_thread_self());
  if (error)
    return error == NVM_EUNSAFE ? -1 /* recorded where it was found */
                                : nvmi_fail(error, pool->path,
                                            "what was stored outside "
                                            "transactions could not be committed");
  if (has_open_transaction(pool))
    return nvmi_fail(NVM_EOPENTX, pool->path,
                     "a transaction is open; what it allocated cannot be reached yet");
  return 0;
}

/* Blocks of a run that were not reached, in the order of their addresses. */
struct sweep {
  struct nvmi_reach reach;
  struct nvmi_array garbage; /* struct nvmi_block */
  bool incomplete;
};

static bool add_garbage(void *context, const struct nvmi_block *block) {
  struct sweep *sweep = context;
  if (!nvmi_is_reached(&sweep->reach, block->offset) &&
      !nvmi_array_push(&sweep->garbage, block, sizeof *block))
    sweep->incomplete = true;
  return !sweep->incomplete;
}

static void sweep_run(void *context, struct nvm_pool *pool, uint32_t chunk) {
  nvmi_run_blocks(pool, chunk, add_garbage, context);
}

static int find_garbage(struct sweep *sweep, struct nvm_pool *pool) {
  if (nvmi_check_quiet(pool) || nvmi_reach(&sweep->reach, pool))
    return -1;
  int result = nvmi_each_run(pool, 1, sweep_run, sweep, sizeof *sweep) < 0 ? -1 : 0;
  if (sweep->incomplete)
    result = nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for a list of its garbage");
  return result;
}

int nvmi_free_blocks(struct nvm_pool *pool, const struct nvmi_block *blocks, size_t count) {
  for (size_t done = 0; done < count;) {
    if (nvm_tx_begin(pool))
      return -1;
    size_t end = done + FREED_AT_ONCE < count ? done + FREED_AT_ONCE : count;
    int failed = 0;
    for (; done < end && !failed; done++)
      failed = nvm_free(pool->work + blocks[done].offset);
    if (failed || nvm_tx_commit(pool)) {
      if (failed)
        nvm_tx_abort(pool);
      return -1;
    }
  }
  return 0;
}

int nvm_pool_collect(NVM_POOL *pool, struct nvm_collected *collected) {
  struct sweep sweep = {0};
  int result = find_garbage(&sweep, pool);
  const struct nvmi_block *garbage = sweep.garbage.items;
  if (result == 0)
    result = nvmi_free_blocks(pool, garbage, sweep.garbage.count);
  if (result == 0 && pool->counts) { /* what was too much to count has been found now */
    nvmi_counts_drain(pool);
    result = nvmi_counts_anew(pool);
  }
  if (result == 0 && collected) {
    *collected = (struct nvm_collected){.reachable_blocks = sweep.reach.blocks,
                                        .reachable_bytes = sweep.reach.bytes,
                                        .freed_blocks = sweep.garbage.count};
    for (size_t i = 0; i < sweep.garbage.count; i++)
      collected->freed_bytes += garbage[i].size;
  }
  nvmi_array_free(&sweep.garbage, sizeof(struct nvmi_block));
  nvmi_reach_free(&sweep.reach);
  return result;
}

struct each {
  struct nvm_pool *pool;
  const struct nvmi_reach *reach; /* null: nobody asked */
  bool (*visit)(void *, const struct nvm_block *);
  void *context;
  bool stopped;
};

static bool visit_block(void *context, const struct nvmi_block *block) {
  struct each *each = context;
  struct nvm_block told = {.address = each->pool->work + block->offset,
                           .offset = block->offset,
                           .size = block->size,
                           .type = nvmi_type_layout(each->pool, block->type),
                           .is_reachable =
                               !each->reach || nvmi_is_reached(each->reach, block->offset)};
  each->stopped = each->stopped || !each->visit(each->context, &told);
  return !each->stopped;
}

static void visit_run(void *context, struct nvm_pool *pool, uint32_t chunk) {
  struct each *each = context;
  if (!each->stopped)
    nvmi_run_blocks(pool, chunk, visit_block, context);
}

int nvm_pool_each_block(NVM_POOL *pool, bool reach, bool (*visit)(void *, const struct nvm_block *),
                        void *context) {
  struct nvmi_reach reached = {.pool = pool};
  if (nvmi_check_quiet(pool) || (reach && nvmi_reach(&reached, pool)))
    return -1;
  struct each each = {
      .pool = pool, .reach = reach ? &reached : NULL, .visit = visit, .context = context};
  int used = nvmi_each_run(pool, 1, visit_run, &each, sizeof each);
  nvmi_reach_free(&reached);
  return used < 0 ? -1 : 0;
}
