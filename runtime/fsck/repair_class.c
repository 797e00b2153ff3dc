/* repair_class.c: spans whose class makes sense, and is perhaps not theirs.
 *
 * Of such a span the table is looked for where blocks are, and names types that there are not; or
 * it goes on behind what would be its end, where all is zero else. A
 * table of the right class with two rotten words looks the same. Where pointers lead tells the one
 * from the other. What nobody knows is left, for then a word of the table may be a byte of a block.
 */
#include "fsck/repair_puzzle.h"
#include "heap/heap_spans.h"

#include "heap/heap_types.h"

#include <string.h>

enum {
  STRANGE_MAX = 1, /* a word of a span's table may rot by itself */
  STARTS_MIN = 2   /* one word may lead to the start of a block by chance */
};

static uint16_t *table_of(const struct nvm_pool *pool, uint32_t chunk) {
  return (uint16_t *)(void *)(pool->home + nvmi_chunk_offset(pool, chunk));
}

unsigned nvmi_words_behind(const struct nvm_pool *pool, uint32_t chunk, uint32_t class) {
  const uint16_t *table = table_of(pool, chunk);
  struct nvmi_span shape;
  unsigned words = 0;
  nvmi_span_shape(&shape, class);
  for (uint32_t i = shape.blocks; i < shape.first / sizeof *table; i++)
    words += table[i] != 0;
  return words;
}

/* Words of a span's table that name no type that there is. */
static unsigned strange_words(const struct nvm_pool *pool, uint32_t chunk, uint64_t word) {
  const uint16_t *table = table_of(pool, chunk);
  struct nvmi_span shape;
  unsigned strange = 0;
  nvmi_span_shape(&shape, word >> 8 & 0xff);
  for (uint32_t i = 0; i < shape.blocks; i++)
    strange += table[i] > pool->type_count;
  return strange;
}

static bool is_same_class(uint64_t a, uint64_t b) { return !((a ^ b) & ~NVM_SPAN_STATICS); }

static uint64_t wrong(const struct nvmi_attempt *attempt) {
  return attempt->astray + attempt->inside + attempt->loose;
}

/* Whether the class that the span has is its own: pointers lead to the starts of its blocks more
 * often than under any other class, or as often and less is wrong; or no pointer leads to it. */
static bool is_own(const struct nvmi_puzzle *others, const struct nvmi_attempt *now) {
  if (!now->led || !others->tried)
    return !now->led || now->starts > now->given_up;
  struct nvmi_puzzle all = *others;
  nvmi_attempt_rank(&all, now);
  return now->starts > others->most_starts + now->given_up ||
         (nvmi_puzzle_is_solved(&all) && is_same_class(all.best.word, now->word));
}

/* Whose class is its own: what stands behind its table is rot. More of it may be the table of a
 * class that nobody made out. */
static bool clear_behind(struct nvmi_puzzle *puzzle, const struct nvmi_attempt *now) {
  struct nvm_pool *pool = puzzle->repair->pool;
  uint32_t class = puzzle->damaged >> 8 & 0xff;
  struct nvmi_span shape;
  unsigned words = nvmi_words_behind(pool, puzzle->chunk, class);
  if (!words)
    return true;
  if (words > STRANGE_MAX || now->starts < STARTS_MIN)
    return false;
  nvmi_span_shape(&shape, class);
  uint16_t *table = table_of(pool, puzzle->chunk);
  memset(table + shape.blocks, 0, shape.first - shape.blocks * sizeof *table);
  nvmi_mended(puzzle->repair, "chunk %u: what stood behind the table of a span is zero",
              puzzle->chunk);
  return true;
}

/* Whether another class is: then more pointers lead to the starts of blocks, and less is wrong. */
static bool is_others(const struct nvmi_puzzle *others, const struct nvmi_attempt *now) {
  const struct nvmi_attempt *best = &others->best;
  return nvmi_puzzle_is_solved(others) && !is_same_class(best->word, now->word) &&
         best->starts > now->starts && best->starts >= STARTS_MIN && wrong(best) < wrong(now);
}

static bool mend_class(struct nvmi_puzzle *puzzle) {
  struct nvmi_repair *repair = puzzle->repair;
  struct nvmi_attempt now = nvmi_attempt_with(puzzle, puzzle->damaged);
  if (!puzzle->failed)
    nvmi_puzzle_try_spans(puzzle);
  *nvmi_puzzle_word(puzzle) = puzzle->damaged;
  if (puzzle->failed)
    return false;
  bool is_own_class = is_own(puzzle, &now);
  if (is_own_class && clear_behind(puzzle, &now))
    return true;
  if (is_own_class || !is_others(puzzle, &now)) {
    nvmi_left(repair,
              "chunk %u: a span whose table is not one of its class (%#llx), and of what size its "
              "blocks are cannot be told",
              puzzle->chunk, (unsigned long long)puzzle->damaged);
    return false;
  }
  *nvmi_puzzle_word(puzzle) = puzzle->best.word;
  nvmi_mended(repair, "chunk %u: a span whose table is not one of its class (%#llx): it is %#llx",
              puzzle->chunk, (unsigned long long)puzzle->damaged,
              (unsigned long long)puzzle->best.word);
  return true;
}

bool nvmi_repair_classes(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  bool known = true;
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    if ((word & 0xff) == NVM_CHUNK_SMALL && (strange_words(pool, chunk, word) > STRANGE_MAX ||
                                             nvmi_words_behind(pool, chunk, word >> 8 & 0xff))) {
      struct nvmi_puzzle puzzle = {.repair = repair,
                                   .chunk = chunk,
                                   .left = chunks - chunk,
                                   .damaged = word,
                                   .any_change = true};
      known &= mend_class(&puzzle);
      word = *nvmi_chunk_word(pool, chunk);
    }
    count = word ? (uint32_t)(word >> 32) : 1;
  }
  return known;
}
