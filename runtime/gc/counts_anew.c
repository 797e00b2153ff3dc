/* counts_anew.c: all references of a pool are counted: its tables are made anew, or compared with that
 * (counts.h).
 */
#include "gc/collect.h"
#include "gc/counts.h"
#include "types/crew.h"

#include "base/kill.h"
#include "heap/heap_types.h"
#include "types/types.h"

#include <string.h>
#include <sys/mman.h>

/* Adds up all references, in tables of the pool or of DRAM alone. */
struct sum {
  struct nvm_pool *pool;
  uint16_t *seen[2]; /* DRAM: a count for every 16 bytes; null: those of the pool */
  bool *used;        /* by directory index, of those in DRAM */
  const char *field; /* that cannot be followed */
  bool failed;       /* recorded */
};

static void add(void *context, uint64_t to) {
  struct sum *sum = context;
  uint16_t *at;
  if (sum->seen[0]) {
    at = &sum->seen[to & NVM_REFERENCE_WEAK][to / 16];
    sum->used[nvmi_counts_table(to)] = true;
  } else {
    if (sum->failed || !nvmi_counts_cover(sum->pool->counts, to)) {
      sum->failed = true;
      return;
    }
    at = nvmi_counts_at(sum->pool->counts, to);
  }
  if (*at != NVM_COUNT_MANY)
    ++*at;
}

static bool find_hidden(void *context, const struct nvmi_word *word) {
  struct sum *sum = context;
  if (word->field->kind == NVM_FIELD_XOR && nvmi_word_value(word))
    sum->field = nvmi_field_name(word->field);
  return !sum->field;
}

static bool add_block(void *context, const struct nvmi_block *block) {
  struct sum *sum = context;
  const struct nvm_type *type = nvmi_type_layout(sum->pool, block->type);
  char *bytes = sum->pool->home + block->offset;
  if (type)
    nvmi_block_words(sum->pool, type, bytes, block->size, find_hidden, sum);
  nvmi_each_reference(sum->pool, block->type, bytes, block->size, add, sum);
  return !sum->failed && !sum->field;
}

static void add_run(void *context, struct nvm_pool *pool, uint32_t chunk) {
  nvmi_run_blocks(pool, chunk, add_block, context);
}

static int add_all(struct sum *sum) {
  struct nvm_pool *pool = sum->pool;
  const struct nvm_field root = {.name = "root", .kind = NVM_FIELD_POINTER};
  uint64_t to = nvmi_reference_of(pool, &root, *(uint64_t *)(pool->home + NVM_ROOT_OFFSET));
  if (to)
    add(sum, to);
  if (nvmi_each_run(pool, 1, add_run, sum, sizeof *sum) < 0 || sum->failed)
    return -1;
  if (sum->field)
    return nvmi_fail(
        NVM_EUNSAFE, pool->path,
        "references cannot be counted: field %s is made of two pointers; free its blocks yourself",
        sum->field);
  return 0;
}

/* The tables are durable. False: somebody has spoiled them since they were said to be stale by `number`.
 *
 * At no moment does the file say that they are exact while somebody relies on the opposite: who spoils
 * them counts first, and looks at `stale` then. Before the look below: it is seen there. Behind it: `stale`
 * is false, so that thread writes the file's word, which is not `number` any more and stays; or which says
 * that they are exact already, and it writes over that.
 */
static bool say_exact(struct nvmi_counts *counts, uint64_t number) {
  uint64_t *word = &counts->head->exact;
  atomic_store(&counts->stale, false);
  if (atomic_load(&counts->spoiled) != number ||
      !__atomic_compare_exchange_n(word, &number, NVM_COUNTS_EXACT, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_SEQ_CST))
    return false;
  counts->pool->persist->flush(word, sizeof *word);
  counts->pool->persist->fence();
  nvmi_step(NVMI_STEP_COUNT);
  return true;
}

/* Crash before the tables are said to be exact: they are stale, it is done again. */
static int count_anew(struct nvm_pool *pool) {
  struct nvmi_counts *counts = pool->counts;
  struct sum sum = {.pool = pool};
  for (uint64_t i = 0; i < nvmi_counts_words(pool); i++)
    if (counts->directory[i])
      memset(pool->home + counts->directory[i], 0, NVM_COUNTS_TABLE);
  nvmi_step(NVMI_STEP_COUNT);
  if (add_all(&sum))
    return -1;
  for (uint64_t i = 0; i < nvmi_counts_words(pool); i++)
    if (counts->directory[i])
      pool->persist->flush(pool->home + counts->directory[i], NVM_COUNTS_TABLE);
  nvmi_step(NVMI_STEP_COUNT);
  /* The last batch would set counts of before. */
  for (unsigned i = 0; i < 2; i++) {
    struct nvm_batch fresh = {.sequence = counts->sequence + 1 + i, .position = counts->done};
    fresh.check = nvmi_batch_check(pool, &fresh);
    pool->persist->stream(counts->batch[fresh.sequence & 1], &fresh, sizeof fresh);
  }
  counts->sequence += 2;
  nvmi_batch_keep(counts);
  nvmi_step(NVMI_STEP_COUNT);
  return 0;
}

/* A library that is loaded meanwhile brings layouts of types, a signal's handler stores: what was
 * counted by then is worth nothing. */
int nvmi_counts_anew(struct nvm_pool *pool) {
  struct nvmi_counts *counts = pool->counts;
  uint64_t number;
  do {
    number = nvmi_counts_say_stale(counts);
    if (count_anew(pool))
      return -1;
  } while (!say_exact(counts, number));
  counts->candidates_lost = true;
  return 0;
}

static bool table_differs(const struct nvmi_counts *counts, const struct sum *sum, uint64_t i) {
  static const uint16_t zero[NVM_COUNTS_TABLE / 2];
  const uint16_t *seen = sum->seen[i % 2] + i / 2 * (NVM_COUNTS_STRETCH / 16);
  uint64_t table = counts->directory[i];
  const void *have = table ? counts->pool->home + table : (const char *)zero;
  return (table || sum->used[i]) && memcmp(have, sum->used[i] ? seen : zero, NVM_COUNTS_TABLE) != 0;
}

long nvmi_counts_differ(struct nvm_pool *pool, void (*report)(void *, uint64_t), void *context) {
  struct sum sum = {.pool = pool};
  size_t size = pool->header.range / 8, words = nvmi_counts_words(pool);
  long differ = 0;
  sum.used = nvmi_dram_reserve(words);
  for (unsigned i = 0; i < 2; i++)
    sum.seen[i] = nvmi_dram_reserve(size);
  if (!sum.seen[0] || !sum.seen[1] || !sum.used)
    differ = nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for counting its references");
  else if (add_all(&sum))
    differ = -1;
  for (uint64_t i = 0; differ >= 0 && i < words; i++)
    if (table_differs(pool->counts, &sum, i)) {
      report(context, i / 2 * NVM_COUNTS_STRETCH);
      differ++;
    }
  for (unsigned i = 0; i < 2; i++)
    if (sum.seen[i])
      munmap(sum.seen[i], size);
  if (sum.used)
    munmap(sum.used, words);
  return differ;
}
