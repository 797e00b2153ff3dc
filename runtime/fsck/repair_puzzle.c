/* repair_puzzle.c: see repair_puzzle.h.
 *
 * The best attempt leaves the fewest pointers that lead to nothing, then the fewest that lead into
 * the middle of blocks, then the fewest words that nobody decides and that do the one or the other;
 * then the words of runs behind it make sense the furthest, then it differs from the damaged word in
 * one byte only. If two are equally good and mean different things, nobody knows. Pointers to what
 * lies behind the next damaged word say nothing.
 */
#include "fsck/repair_puzzle.h"
#include "heap/heap_chunks.h"
#include "heap/heap_spans.h"

#include "fsck/unused.h"
#include "heap/heap_types.h"

enum { CHANGED_MANY = 2 }; /* bytes; of more a damaged word says nothing */

uint64_t *nvmi_puzzle_word(const struct nvmi_puzzle *puzzle) {
  return nvmi_chunk_word(puzzle->repair->pool, puzzle->chunk);
}

/* Where the next run would start, or the end: a word that makes sense lies there. */
static bool goes_on(const struct nvmi_puzzle *puzzle, uint64_t count) {
  struct nvm_pool *pool = puzzle->repair->pool;
  if (count == puzzle->left)
    return true;
  if (!count || count > puzzle->left)
    return false;
  uint32_t next = puzzle->chunk + (uint32_t)count;
  uint64_t word = *nvmi_chunk_word(pool, next);
  struct nvmi_unused unused = {.pool = pool};
  return word ? !nvmi_chunk_fault(pool, word, puzzle->left - (uint32_t)count)
              : !nvmi_unused_is_dirty(&unused, next);
}

/* Whether the run could be a span of this class: its table names types that there are. */
static bool has_table(const struct nvmi_puzzle *puzzle, uint64_t word) {
  struct nvm_pool *pool = puzzle->repair->pool;
  const uint16_t *table = (const void *)(pool->home + nvmi_chunk_offset(pool, puzzle->chunk));
  struct nvmi_span shape;
  nvmi_span_shape(&shape, word >> 8 & 0xff);
  for (uint32_t i = 0; i < shape.blocks; i++)
    if (table[i] > pool->type_count)
      return false;
  return true;
}

/* Of the words that mean as much the lower rank is taken: a mark too many costs a look; what
 * nothing leads to may be free. */
static unsigned rank_of(uint64_t word) {
  if ((word & 0xff) == NVM_CHUNK_FREE)
    return 0;
  return (word & 0xff) == NVM_CHUNK_SMALL && !(word & NVM_SPAN_STATICS) ? 2 : 1;
}

bool nvmi_puzzle_is_typeless(const struct nvmi_puzzle *puzzle, uint64_t word) {
  return (word & 0xff) == NVM_CHUNK_LARGE &&
         (puzzle->damaged >> 16 & 0xffff) >= puzzle->repair->pool->type_count;
}

/* A type that there is not is one byte that is wrong, though both go. */
static unsigned changed_by(const struct nvmi_puzzle *puzzle, uint64_t word) {
  bool typeless = nvmi_puzzle_is_typeless(puzzle, word);
  uint64_t looked_at = typeless ? ~(UINT64_C(0xffff) << 16) : UINT64_MAX;
  unsigned changed = nvmi_bytes_changed(word & looked_at, puzzle->damaged & looked_at) + typeless;
  return puzzle->any_change || changed > CHANGED_MANY ? CHANGED_MANY : changed;
}

static int compare(const struct nvmi_attempt *a, const struct nvmi_attempt *b) {
  const uint64_t x[] = {a->astray, a->inside, a->loose, a->unmapped, a->changed, a->rank};
  const uint64_t y[] = {b->astray, b->inside, b->loose, b->unmapped, b->changed, b->rank};
  for (unsigned i = 0; i < sizeof x / sizeof *x; i++)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}

static bool has_blocks(uint64_t word) {
  return (word & 0xff) == NVM_CHUNK_SMALL || (word & 0xff) == NVM_CHUNK_LARGE;
}

struct nvmi_attempt nvmi_attempt_with(struct nvmi_puzzle *puzzle, uint64_t word) {
  struct nvm_pool *pool = puzzle->repair->pool;
  struct nvmi_attempt attempt = {
      .word = word, .changed = changed_by(puzzle, word), .rank = rank_of(word)};
  struct nvmi_survey survey;
  uint32_t end = puzzle->chunk + (uint32_t)(word ? word >> 32 : 1);
  *nvmi_puzzle_word(puzzle) = word;
  if (!nvmi_survey_make(&survey, puzzle->repair, end)) {
    puzzle->failed = true;
    return attempt;
  }
  survey.from = nvmi_chunk_offset(pool, puzzle->chunk);
  survey.to = nvmi_chunk_offset(pool, end);
  nvmi_survey_run(&survey);
  attempt.astray = survey.astray;
  attempt.inside = survey.inside;
  attempt.loose = survey.loose;
  attempt.led = survey.led + survey.hidden;
  attempt.starts = survey.starts;
  attempt.unmapped = survey.unmapped;
  attempt.given_up = survey.given_up + (survey.hidden && !has_blocks(word));
  nvmi_survey_free(&survey);
  return attempt;
}

void nvmi_attempt_rank(struct nvmi_puzzle *puzzle, const struct nvmi_attempt *attempt) {
  puzzle->tried = true;
  if (puzzle->most_starts < attempt->starts)
    puzzle->most_starts = attempt->starts;
  if (attempt->given_up)
    return;
  int order = puzzle->found ? compare(attempt, &puzzle->best) : -1;
  puzzle->tied = order ? puzzle->tied && order > 0 : attempt->word != puzzle->best.word;
  if (order < 0)
    puzzle->best = *attempt;
  puzzle->found = true;
}

void nvmi_puzzle_try(struct nvmi_puzzle *puzzle, uint64_t word) {
  struct nvm_pool *pool = puzzle->repair->pool;
  if (nvmi_chunk_fault(pool, word, puzzle->left) || !goes_on(puzzle, word ? word >> 32 : 1) ||
      ((word & 0xff) == NVM_CHUNK_SMALL && !has_table(puzzle, word)))
    return;
  struct nvmi_attempt attempt = nvmi_attempt_with(puzzle, word);
  if (!puzzle->failed)
    nvmi_attempt_rank(puzzle, &attempt);
}

void nvmi_puzzle_try_spans(struct nvmi_puzzle *puzzle) {
  struct nvmi_span shape;
  for (uint32_t class = 0; class < NVMI_CLASSES; class ++) {
    nvmi_span_shape(&shape, class);
    uint64_t word = NVM_CHUNK_ENTRY(NVM_CHUNK_SMALL, class, 0, shape.chunks);
    nvmi_puzzle_try(puzzle, word);
    nvmi_puzzle_try(puzzle, word | NVM_SPAN_STATICS);
  }
}

/* Where pointers lead into the run, and under no attempt one leads to the start of a block, they
 * say nothing for the best: it may have swallowed runs behind it. */
bool nvmi_puzzle_is_solved(const struct nvmi_puzzle *puzzle) {
  return puzzle->found && !puzzle->tied && !puzzle->failed &&
         puzzle->best.starts == puzzle->most_starts && (puzzle->best.starts || !puzzle->best.led);
}
