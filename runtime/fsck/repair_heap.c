/* repair_heap.c: words of runs that make no sense.
 *
 * Where a run starts is known from the one before, what it is has to be found out: each word that
 * would make sense there, after which the table goes on, is tried, and the pointers that the root
 * leads to are followed. The best leaves the fewest that lead to nothing, then the fewest that lead
 * into the middle of blocks, then differs from the damaged word in the fewest bytes. If two are
 * equally good and mean different things, nobody knows.
 */
#include "fsck/repair.h"

#include "heap/heap_types.h"
#include "heap/run_owner.h"
#include "log/log_read.h"

#include <string.h>

enum {
  FAULTS_MAX = 1000, /* more are no rot but another file */
  STRANGE_MAX = 1    /* a word of a span's table may rot by itself */
};

struct attempt {
  uint64_t word;
  uint64_t astray, inside;
  unsigned changed, rank;
};

/* A damaged word: at `chunk`, `left` chunks before the end. */
struct puzzle {
  struct nvmi_repair *repair;
  uint32_t chunk, left;
  uint64_t damaged;
  struct attempt best;
  bool found, tied, failed;
};

static uint64_t *word_of(const struct puzzle *puzzle) {
  return nvmi_chunk_word(puzzle->repair->pool, puzzle->chunk);
}

/* Where the next run would start, or the end: a word that makes sense lies there. */
static bool goes_on(const struct puzzle *puzzle, uint64_t count) {
  struct nvm_pool *pool = puzzle->repair->pool;
  if (count == puzzle->left)
    return true;
  if (!count || count > puzzle->left)
    return false;
  uint32_t next = puzzle->chunk + (uint32_t)count;
  return !nvmi_chunk_fault(pool, *nvmi_chunk_word(pool, next), puzzle->left - (uint32_t)count);
}

/* Whether the run could be a span of this class: its table names types that there are. */
static bool has_table(const struct puzzle *puzzle, uint64_t word) {
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

static int compare(const struct attempt *a, const struct attempt *b) {
  const uint64_t x[] = {a->astray, a->inside, a->changed, a->rank};
  const uint64_t y[] = {b->astray, b->inside, b->changed, b->rank};
  for (unsigned i = 0; i < sizeof x / sizeof *x; i++)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}

/* What follows if the run is this. */
static struct attempt attempt_with(struct puzzle *puzzle, uint64_t word) {
  struct attempt attempt = {word, 0, 0, nvmi_bytes_changed(word, puzzle->damaged), rank_of(word)};
  struct nvmi_survey survey;
  *word_of(puzzle) = word;
  if (!nvmi_survey_make(&survey, puzzle->repair,
                        puzzle->chunk + (uint32_t)(word ? word >> 32 : 1))) {
    puzzle->failed = true;
    return attempt;
  }
  nvmi_survey_run(&survey);
  attempt.astray = survey.astray;
  attempt.inside = survey.inside;
  nvmi_survey_free(&survey);
  return attempt;
}

static void try(struct puzzle *puzzle, uint64_t word) {
  struct nvm_pool *pool = puzzle->repair->pool;
  if (nvmi_chunk_fault(pool, word, puzzle->left) || !goes_on(puzzle, word ? word >> 32 : 1) ||
      ((word & 0xff) == NVM_CHUNK_SMALL && !has_table(puzzle, word)))
    return;
  struct attempt attempt = attempt_with(puzzle, word);
  if (puzzle->failed)
    return;
  int order = puzzle->found ? compare(&attempt, &puzzle->best) : -1;
  puzzle->tied = order ? puzzle->tied && order > 0 : word != puzzle->best.word;
  if (order < 0)
    puzzle->best = attempt;
  puzzle->found = true;
}

static void try_spans(struct puzzle *puzzle) {
  struct nvmi_span shape;
  for (uint32_t class = 0; class < NVMI_CLASSES; class ++) {
    nvmi_span_shape(&shape, class);
    uint64_t word = NVM_CHUNK_ENTRY(NVM_CHUNK_SMALL, class, 0, shape.chunks);
    try(puzzle, word);
    try(puzzle, word | NVM_SPAN_STATICS);
  }
}

/* Of a run whose length is not a class's: what the word says, and what differs in a byte. */
static void try_lengths(struct puzzle *puzzle, uint64_t low) {
  uint64_t count = puzzle->damaged >> 32;
  try(puzzle, low | count << 32);
  for (unsigned bit = 0; bit < 32; bit += 8)
    for (uint64_t byte = 0; byte < 256; byte++) {
      uint64_t other = (count & ~(UINT64_C(0xff) << bit)) | byte << bit;
      if (other != count)
        try(puzzle, low | other << 32);
    }
}

static bool is_zero(const char *bytes, size_t size) {
  return !*bytes && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Runs that something outside of the heap names: those and no others are of their kind. */
static bool try_named(struct puzzle *puzzle) {
  struct nvm_pool *pool = puzzle->repair->pool;
  uint64_t at = nvmi_chunk_offset(pool, puzzle->chunk);
  const struct nvm_segment *segment = (const void *)(pool->home + at);
  if (nvmi_segment_valid(pool, at, segment->slot, segment->bank, segment->position)) {
    try(puzzle, NVM_CHUNK_ENTRY(NVM_CHUNK_LOG, 0, 0, segment->size >> NVM_CHUNK_SHIFT));
    return true;
  }
  for (const struct nvmi_run_owner *const *owner = pool->run_owners; *owner; owner++) {
    if (!(*owner)->parts_in(pool, at, NVM_CHUNK_SIZE, false))
      continue;
    if ((*owner)->chunks)
      try(puzzle, NVM_CHUNK_ENTRY((*owner)->kind, 0, 0, (*owner)->chunks));
    else
      try_lengths(puzzle, (*owner)->kind);
    return true;
  }
  return false;
}

static void try_all(struct puzzle *puzzle) {
  struct nvm_pool *pool = puzzle->repair->pool;
  if (try_named(puzzle))
    return;
  uint64_t type = puzzle->damaged >> 16 & 0xffff;
  if (is_zero(pool->home + nvmi_chunk_offset(pool, puzzle->chunk), NVM_CHUNK_SIZE))
    try(puzzle, 0);
  try_spans(puzzle);
  try_lengths(puzzle, NVM_CHUNK_FREE);
  try_lengths(puzzle, NVM_CHUNK_LARGE | (type < pool->type_count ? type : 0) << 16);
}

/* A run of blocks, or free, that a table lies in. */
static const char *lies_over(const struct nvm_pool *pool, uint32_t chunk, uint64_t word) {
  uint64_t at = nvmi_chunk_offset(pool, chunk), size = word >> 32 << NVM_CHUNK_SHIFT;
  for (const struct nvmi_run_owner *const *owner = pool->run_owners; *owner; owner++)
    if ((*owner)->lack && (word & 0xff) != (*owner)->kind &&
        (*owner)->parts_in(pool, at, size, false))
      return (*owner)->lack;
  return NULL;
}

/* Whether the runs up to the first fault go to the end of the heap. `lacks`: their words are right,
 * and nvmi_chunks_lack. */
static bool mend_first(struct nvmi_repair *repair, bool lacks, bool *more) {
  struct nvm_pool *pool = repair->pool;
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  const char *fault = NULL;
  struct puzzle puzzle = {.repair = repair};
  for (uint32_t count; puzzle.chunk < chunks; puzzle.chunk += count) {
    uint64_t word = *word_of(&puzzle);
    if ((fault = lacks ? lies_over(pool, puzzle.chunk, word)
                       : nvmi_chunk_fault(pool, word, chunks - puzzle.chunk)))
      break;
    count = word ? (uint32_t)(word >> 32) : 1;
  }
  *more = fault != NULL;
  if (!fault)
    return true;
  puzzle.left = chunks - puzzle.chunk;
  puzzle.damaged = *word_of(&puzzle);
  try_all(&puzzle);
  bool known = puzzle.found && !puzzle.tied && !puzzle.failed;
  *word_of(&puzzle) = known ? puzzle.best.word : puzzle.damaged;
  if (known)
    nvmi_mended(repair, "chunk %u: %s (%#llx): it is %#llx", puzzle.chunk, fault,
                (unsigned long long)puzzle.damaged, (unsigned long long)puzzle.best.word);
  else if (!puzzle.failed)
    nvmi_left(repair, "chunk %u: %s (%#llx), and %s", puzzle.chunk, fault,
              (unsigned long long)puzzle.damaged,
              puzzle.found ? "what it was cannot be told" : "nothing else would make sense");
  return known;
}

/* Words of a span's table that name no type that there is. */
static unsigned strange_words(const struct nvm_pool *pool, uint32_t chunk, uint64_t word) {
  const uint16_t *table = (const void *)(pool->home + nvmi_chunk_offset(pool, chunk));
  struct nvmi_span shape;
  unsigned strange = 0;
  nvmi_span_shape(&shape, word >> 8 & 0xff);
  for (uint32_t i = 0; i < shape.blocks; i++)
    strange += table[i] > pool->type_count;
  return strange;
}

/* A class that makes sense, and is not the span's: then its table is looked for where its blocks
 * are. Another class is taken where the words of its table are all right, and pointers lead to the
 * starts of its blocks no worse. Of two that are as good nobody knows: nothing is written there. */
static bool mend_class(struct puzzle *puzzle) {
  struct nvmi_repair *repair = puzzle->repair;
  struct attempt now = attempt_with(puzzle, puzzle->damaged);
  try_spans(puzzle);
  const struct attempt *best = &puzzle->best;
  bool fits =
      puzzle->found && !puzzle->failed && best->astray + best->inside <= now.astray + now.inside;
  *word_of(puzzle) = fits && !puzzle->tied ? best->word : puzzle->damaged;
  if (fits && !puzzle->tied) {
    nvmi_mended(repair,
                "chunk %u: a span whose table names types that there are not (%#llx): it is %#llx",
                puzzle->chunk, (unsigned long long)puzzle->damaged, (unsigned long long)best->word);
  } else if (fits) {
    nvmi_left(repair,
              "chunk %u: a span whose table names types that there are not (%#llx), and of what "
              "size its blocks are cannot be told",
              puzzle->chunk, (unsigned long long)puzzle->damaged);
  }
  return !fits || !puzzle->tied;
}

bool nvmi_repair_classes(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  bool known = true;
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    if ((word & 0xff) == NVM_CHUNK_SMALL && strange_words(pool, chunk, word) > STRANGE_MAX) {
      struct puzzle puzzle = {
          .repair = repair, .chunk = chunk, .left = chunks - chunk, .damaged = word};
      known &= mend_class(&puzzle);
      word = *nvmi_chunk_word(pool, chunk);
    }
    count = word ? (uint32_t)(word >> 32) : 1;
  }
  return known;
}

bool nvmi_repair_heap(struct nvmi_repair *repair) {
  bool more = true;
  for (unsigned faults = 0; more && faults < FAULTS_MAX; faults++)
    if (!mend_first(repair, false, &more))
      return false;
  if (more || !nvmi_chunks_lack(repair->pool))
    return !more;
  more = true;
  for (unsigned faults = 0; more && faults < FAULTS_MAX; faults++)
    if (!mend_first(repair, true, &more))
      return false;
  if (nvmi_chunks_lack(repair->pool))
    nvmi_left(repair, "%s", nvmi_chunks_lack(repair->pool));
  return !nvmi_chunks_lack(repair->pool);
}
