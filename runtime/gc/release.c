/* release.c: frees what no counted reference leads to (nvm_pool_release, counts.h).
 *
 * All in DRAM first. Candidates are blocks that a count of 0 was seen of. One of which all counts
 * are 0 is dead; what it refers to loses as many references, and may be dead in its turn: so the
 * list of the dead grows behind its own reader, holders before what they held. Weak pointers that
 * lead to the dead from elsewhere are then set to null, and the dead freed, both by ordinary
 * transactions, whose changes are counted as any. A crash in between leaves blocks whose count is
 * 0: the holders go first, so no block is freed that another still holds; a weak pointer is null
 * before its object goes. */
#include "gc/release.h"

#include "core/tracing.h"
#include "gc/changes.h"
#include "gc/collect.h"
#include "gc/counts.h"
#include "gc/reach.h"
#include "heap/heap_types.h"
#include "tx/wrap.h"
#include "types/block_map.h"
#include "types/crew.h"
#include "types/judged.h"
#include "types/types.h"

#include <string.h>
#include <sys/mman.h>

enum { NULLED_AT_ONCE = 512 };

struct release {
  struct nvm_pool *pool;
  struct nvmi_block_map map;
  uint32_t *given[2];      /* by 16 bytes: references that the dead gave back; weak ones */
  uint64_t *marks;         /* a bit by 16 bytes of the heap: a dead block starts here */
  struct nvmi_array dead;  /* struct nvmi_block */
  struct nvmi_array nulls; /* uint64_t: file offsets of weak pointers to the dead */
  bool incomplete;         /* out of memory */
};

static bool is_dead(const struct release *release, uint64_t offset) {
  uint64_t granule = (offset - release->pool->header.heap_offset) >> 4;
  return release->marks[granule / 64] >> granule % 64 & 1;
}

/* Whether references that are not from the dead lead to the block. */
static bool is_held(const struct release *release, const struct nvmi_block *block, unsigned weak) {
  for (uint64_t at = block->offset; at < block->offset + block->size; at += 16) {
    const uint16_t *count = nvmi_counts_at(release->pool->counts, at | weak);
    if (!count) {
      at = (at | (NVM_COUNTS_STRETCH - 1)) - 15; /* no table: none of this stretch */
      continue;
    }
    if (*count == NVM_COUNT_MANY || *count > release->given[weak][at >> 4])
      return true;
  }
  return false;
}

static void consider(struct release *release, const struct nvmi_block *block) {
  if (is_dead(release, block->offset) || is_held(release, block, 0))
    return;
  uint64_t granule = (block->offset - release->pool->header.heap_offset) >> 4;
  release->marks[granule / 64] |= UINT64_C(1) << granule % 64;
  if (!nvmi_array_push(&release->dead, block, sizeof *block))
    release->incomplete = true;
}

static void consider_at(struct release *release, uint64_t offset) {
  struct nvmi_block block;
  if (offset - release->pool->header.heap_offset < release->pool->header.heap_size &&
      nvmi_block_map_find(&release->map, offset, &block))
    consider(release, &block);
}

static void give_back(void *context, uint64_t to) {
  struct release *release = context;
  release->given[to & NVM_REFERENCE_WEAK][to >> 4]++;
  if (!(to & NVM_REFERENCE_WEAK))
    consider_at(release, to);
}

static bool consider_block(void *context, const struct nvmi_block *block) {
  consider(context, block);
  return true;
}

static void consider_run(void *context, struct nvm_pool *pool, uint32_t chunk) {
  nvmi_run_blocks(pool, chunk, consider_block, context);
}

static int find_dead(struct release *release) {
  struct nvm_pool *pool = release->pool;
  struct nvmi_counts *counts = pool->counts;
  const uint64_t *candidates = counts->candidates.items;
  if (counts->candidates_lost) {
    if (nvmi_each_run(pool, 1, consider_run, release, sizeof *release) < 0)
      return -1;
  } else {
    for (size_t i = 0; i < counts->candidates.count; i++)
      consider_at(release, candidates[i]);
  }
  for (size_t i = 0; i < release->dead.count && !release->incomplete; i++) {
    struct nvmi_block block = ((const struct nvmi_block *)release->dead.items)[i];
    nvmi_each_reference(pool, block.type, pool->home + block.offset, block.size, give_back,
                        release);
  }
  return 0;
}

static bool note_weak(void *context, const struct nvmi_word *word) {
  struct release *release = context;
  struct nvm_pool *pool = release->pool;
  uint64_t to = nvmi_reference_of(pool, word->field, nvmi_word_value(word));
  uint64_t place = (uint64_t)(word->at - pool->home);
  struct nvmi_block block;
  if (to & NVM_REFERENCE_WEAK && nvmi_block_map_find(&release->map, to, &block) &&
      is_dead(release, block.offset) && !nvmi_array_push(&release->nulls, &place, sizeof place))
    release->incomplete = true;
  return !release->incomplete;
}

static bool look_for_weak(void *context, const struct nvmi_block *block) {
  struct release *release = context;
  struct nvm_pool *pool = release->pool;
  const struct nvm_type *type = nvmi_type_layout(pool, block->type);
  return !type || is_dead(release, block->offset) ||
         nvmi_block_words(pool, type, pool->home + block->offset, block->size, note_weak, release);
}

static void look_in_run(void *context, struct nvm_pool *pool, uint32_t chunk) {
  nvmi_run_blocks(pool, chunk, look_for_weak, context);
}

static int find_weak(struct release *release) {
  bool some = false;
  for (size_t i = 0; i < release->dead.count && !some; i++)
    some = is_held(release, (const struct nvmi_block *)release->dead.items + i, 1);
  return some && nvmi_each_run(release->pool, 1, look_in_run, release, sizeof *release) < 0 ? -1
                                                                                            : 0;
}

/* Tags are no part of the address, and stay. */
static void set_null(struct nvm_pool *pool, uint64_t place) {
  uint64_t inside, value;
  uint32_t index;
  const struct nvmi_span *span = nvmi_block_at(pool, place, &index, &inside);
  const struct nvm_type *type = span ? nvmi_type_layout(pool, span->words[index] - 1u) : NULL;
  char *at = pool->work + place;
  const struct nvm_field *field = type ? nvmi_pointer_field(pool, type, at - inside, inside) : NULL;
  __builtin_memcpy(&value, at, sizeof value);
  value &= field ? field->tag : 0;
  nvmi_write(at, &value, sizeof value);
}

static int null_all(struct release *release) {
  const uint64_t *places = release->nulls.items;
  for (size_t done = 0; done < release->nulls.count;) {
    if (nvm_tx_begin(release->pool))
      return -1;
    for (size_t i = 0; i < NULLED_AT_ONCE && done < release->nulls.count; i++)
      set_null(release->pool, places[done++]);
    if (nvm_tx_commit(release->pool))
      return -1;
  }
  return 0;
}

static int prepare(struct release *release) {
  struct nvm_pool *pool = release->pool;
  if (nvmi_block_map_make(&release->map, pool))
    return -1;
  release->given[0] = nvmi_dram_reserve(pool->header.range / 4);
  release->given[1] = nvmi_dram_reserve(pool->header.range / 4);
  release->marks = nvmi_dram_reserve(pool->header.heap_size >> 7);
  if (release->given[0] && release->given[1] && release->marks)
    return 0;
  return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for what may be freed");
}

static void clean_up(struct release *release, uint64_t heap_size) {
  for (unsigned i = 0; i < 2; i++)
    if (release->given[i])
      munmap(release->given[i], release->pool->header.range / 4);
  if (release->marks)
    munmap(release->marks, heap_size >> 7);
  nvmi_array_free(&release->dead, sizeof(struct nvmi_block));
  nvmi_array_free(&release->nulls, sizeof(uint64_t));
  nvmi_block_map_free(&release->map);
}

static int release_once(struct nvm_pool *pool, uint64_t *blocks) {
  struct nvmi_counts *counts = pool->counts;
  struct release release = {.pool = pool};
  uint64_t heap_size = pool->header.heap_size;
  nvmi_counts_drain(pool);
  if (nvmi_counts_stale(counts) && nvmi_counts_anew(pool))
    return -1;
  if (!counts->candidates_lost && !counts->candidates.count)
    return 0;
  int result = prepare(&release) || find_dead(&release) || find_weak(&release) ? -1 : 0;
  if (release.incomplete)
    result = nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for what may be freed");
  if (result == 0)
    result = null_all(&release) || nvmi_free_blocks(pool, release.dead.items, release.dead.count)
                 ? -1
                 : 0;
  if (result == 0) {
    nvmi_counts_drain(pool);
    counts->candidates_lost = false;
    counts->candidates.count = 0;
    *blocks += release.dead.count;
  }
  clean_up(&release, heap_size);
  return result;
}

/* A block with more references than are counted at once makes the tables stale when it goes: then
 * what it held is found by making them anew. */
static int release_quiet(struct nvm_pool *pool, uint64_t *blocks) {
  int result;
  uint64_t before;
  do {
    before = *blocks;
    result = release_once(pool, blocks);
  } while (result == 0 && *blocks != before && nvmi_counts_stale(pool->counts));
  return result;
}

int nvm_pool_release(NVM_POOL *pool, uint64_t *blocks) {
  uint64_t freed = 0;
  if (nvmi_check_quiet(pool))
    return -1;
  if (!pool->counts)
    return nvmi_fail(NVM_EARGUMENT, pool->path,
                     "it does not count references; call nvm_pool_count_references first");
  int result = release_quiet(pool, &freed);
  if (blocks)
    *blocks = freed;
  return result;
}

/* Where that fails the pool is closed all the same: they stay for the next time. So they do where the calling
 * thread has something open in another pool, of which this would be a part. A copy is thrown away as it is. */
void nvmi_release_closing(struct nvm_pool *pool) {
  const struct nvmi_thread *self = nvmi_thread_self();
  uint64_t freed = 0;
  if (!pool->counts || pool->is_copy)
    return;
  if (self->touched || self->node || nvmi_in_transaction(self))
    nvmi_counts_drain(pool); /* what could be freed is known then */
  else
    release_quiet(pool, &freed);
}

/* Not fenced with the header: without, the next opening looks at all blocks. */
void nvmi_release_closed(struct nvm_pool *pool) {
  struct nvmi_counts *counts = pool->counts;
  if (!counts || counts->candidates_lost || counts->candidates.count || nvmi_counts_stale(counts))
    return;
  counts->head->released = pool->header.generation;
  pool->persist->flush(&counts->head->released, sizeof counts->head->released);
  pool->persist->fence();
}
