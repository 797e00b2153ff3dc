/* repair_heap.c: words of runs that make no sense.
 *
 * Where a run starts is known from the one before, what it is has to be found out: each word that
 * would make sense there, after which the table goes on, is tried (repair_puzzle.h). The word of a
 * large block says two things, its length and its type: where it names no type that there is, that
 * is left to repair_blocks.c, as with blocks in spans.
 */
#include "fsck/nameless.h"
#include "fsck/repair_puzzle.h"
#include "fsck/unused.h"
#include "heap/heap_chunks.h"
#include "log/log.h"

#include "heap/heap_types.h"
#include "heap/run_owner.h"
#include "log/log_read.h"

#include <string.h>

enum { FAULTS_MAX = 1000 }; /* more are no rot but another file */

/* Of a run whose length is not a class's: what the word says, and what differs in a byte. */
static void try_lengths(struct nvmi_puzzle *puzzle, uint64_t low) {
  uint64_t count = puzzle->damaged >> 32;
  nvmi_puzzle_try(puzzle, low | count << 32);
  for (unsigned bit = 0; bit < 32; bit += 8)
    for (uint64_t byte = 0; byte < 256; byte++) {
      uint64_t other = (count & ~(UINT64_C(0xff) << bit)) | byte << bit;
      if (other != count)
        nvmi_puzzle_try(puzzle, low | other << 32);
    }
}

static bool is_zero(const char *bytes, size_t size) {
  return !*bytes && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Runs that something outside of the heap names: those and no others are of their kind. */
static bool try_named(struct nvmi_puzzle *puzzle) {
  struct nvm_pool *pool = puzzle->repair->pool;
  uint64_t at = nvmi_chunk_offset(pool, puzzle->chunk);
  const struct nvm_segment *segment = (const void *)(pool->home + at);
  if (nvmi_segment_valid(pool, at, segment->slot, segment->bank, segment->position)) {
    nvmi_puzzle_try(puzzle, NVM_CHUNK_ENTRY(NVM_CHUNK_LOG, 0, 0, segment->size >> NVM_CHUNK_SHIFT));
    return true;
  }
  for (const struct nvmi_run_owner *const *owner = pool->run_owners; *owner; owner++) {
    if (!(*owner)->parts_in(pool, at, NVM_CHUNK_SIZE, false))
      continue;
    uint64_t chunks = (*owner)->chunks_at(pool, at);
    if (chunks)
      nvmi_puzzle_try(puzzle, NVM_CHUNK_ENTRY((*owner)->kind, 0, 0, chunks));
    else
      try_lengths(puzzle, (*owner)->kind);
    return true;
  }
  return false;
}

/* A word that is zero by damage: of a span, or of a free run up to the last chunk in a row that is
 * not zero. How long a block was that has a run of its own nobody knows: such a run is not tried,
 * and where one ends just before, this may be the rest of it. */
static void try_unused(struct nvmi_puzzle *puzzle) {
  const struct nvm_pool *pool = puzzle->repair->pool;
  struct nvmi_unused unused = {.pool = pool};
  uint32_t count = 0;
  for (uint32_t i = 0; i < puzzle->left; i++) {
    if (*nvmi_chunk_word(pool, puzzle->chunk + i))
      break;
    if (nvmi_unused_is_dirty(&unused, puzzle->chunk + i))
      count = i + 1;
  }
  puzzle->tried = true;
  if ((puzzle->before & 0xff) == NVM_CHUNK_LARGE)
    return;
  nvmi_puzzle_try_spans(puzzle);
  nvmi_puzzle_try(puzzle, NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, count));
}

static void try_all(struct nvmi_puzzle *puzzle) {
  struct nvm_pool *pool = puzzle->repair->pool;
  if (try_named(puzzle))
    return;
  if (!puzzle->damaged) {
    try_unused(puzzle);
    return;
  }
  uint64_t type = puzzle->damaged >> 16 & 0xffff;
  if (is_zero(pool->home + nvmi_chunk_offset(pool, puzzle->chunk), NVM_CHUNK_SIZE))
    nvmi_puzzle_try(puzzle, 0);
  nvmi_puzzle_try_spans(puzzle);
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

/* What is looked for; each when nothing is left of the one before. */
enum search { SENSELESS, NAMELESS, LACKING };

static const char *fault_of(const struct nvmi_puzzle *puzzle, enum search search) {
  struct nvm_pool *pool = puzzle->repair->pool;
  uint64_t word = *nvmi_puzzle_word(puzzle);
  if (search == SENSELESS) {
    uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
    return nvmi_chunk_fault(pool, word, chunks - puzzle->chunk);
  }
  return search == NAMELESS ? nvmi_nameless_fault(pool, puzzle->chunk)
                            : lies_over(pool, puzzle->chunk, word);
}

/* The word is what the puzzle's best attempt says. */
static void decide(struct nvmi_puzzle *puzzle, const char *fault) {
  uint64_t type = puzzle->damaged & UINT64_C(0xffff) << 16;
  struct nvmi_typeless typeless = {puzzle->chunk, (uint16_t)(type >> 16)};
  bool lacks = nvmi_puzzle_is_typeless(puzzle, puzzle->best.word);
  if (lacks && !nvmi_array_push(&puzzle->repair->typeless, &typeless, sizeof typeless))
    nvmi_left(puzzle->repair, "out of memory for a list of its blocks");
  if (!lacks || (puzzle->best.word | type) != puzzle->damaged)
    nvmi_mended(puzzle->repair, "chunk %u: %s (%#llx): it is %#llx", puzzle->chunk, fault,
                (unsigned long long)puzzle->damaged, (unsigned long long)puzzle->best.word);
}

/* Whether the runs up to the first fault go to the end of the heap. */
static bool mend_first(struct nvmi_repair *repair, enum search search, bool *more) {
  struct nvm_pool *pool = repair->pool;
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  const char *fault = NULL;
  struct nvmi_puzzle puzzle = {.repair = repair};
  struct nvmi_unused unused = {.pool = pool};
  for (uint32_t count; puzzle.chunk < chunks; puzzle.chunk += count) {
    uint64_t word = *nvmi_puzzle_word(&puzzle);
    if ((fault = fault_of(&puzzle, search)))
      break;
    if (!word && nvmi_unused_is_dirty(&unused, puzzle.chunk)) {
      fault = "it was never used, and is not zero";
      break;
    }
    puzzle.before = word;
    count = word ? (uint32_t)(word >> 32) : 1;
  }
  *more = fault != NULL;
  if (!fault)
    return true;
  puzzle.left = chunks - puzzle.chunk;
  puzzle.damaged = *nvmi_puzzle_word(&puzzle);
  try_all(&puzzle);
  bool known = nvmi_puzzle_is_solved(&puzzle);
  *nvmi_puzzle_word(&puzzle) = known ? puzzle.best.word : puzzle.damaged;
  if (known)
    decide(&puzzle, fault);
  else if (!puzzle.failed)
    nvmi_left(repair, "chunk %u: %s (%#llx), and %s", puzzle.chunk, fault,
              (unsigned long long)puzzle.damaged,
              puzzle.tried ? "what it was cannot be told" : "nothing else would make sense");
  return known;
}

static bool mend_all(struct nvmi_repair *repair, enum search search) {
  bool more = true;
  for (unsigned faults = 0; more && faults < FAULTS_MAX; faults++)
    if (!mend_first(repair, search, &more))
      return false;
  return !more;
}

bool nvmi_repair_heap(struct nvmi_repair *repair) {
  if (!mend_all(repair, SENSELESS) || !mend_all(repair, NAMELESS))
    return false;
  if (!nvmi_chunks_lack(repair->pool))
    return true;
  bool more = true;
  for (unsigned faults = 0; more && faults < FAULTS_MAX; faults++)
    if (!mend_first(repair, LACKING, &more))
      return false;
  if (nvmi_chunks_lack(repair->pool))
    nvmi_left(repair, "%s", nvmi_chunks_lack(repair->pool));
  return !nvmi_chunks_lack(repair->pool);
}
