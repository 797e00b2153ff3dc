/* pointers.c: referential integrity at commit (Breeze, section IV.D).
 *
 * A pointer in the pool to DRAM or to another pool is a pointer to nothing after a restart. Where
 * nvmove-cc described the type of a block, the pointer fields among the bytes that a transaction
 * wrote are looked at before it commits. A block may hold an array of its type; what follows the
 * first record of a type with a flexible array is that array. Members of unions are judged where a
 * mark says when they are pointers (NVM_WHEN, NVM_UNLESS), else not.
 *
 * Pointers out of the pool that will be found again are none of these: a field of functions, and
 * one marked NVM_STATIC_PTR, may lead to any symbol of the program or a library, and not into
 * another pool; any other pointer to what nobody can write there, but not from a large block. What
 * it leads to is then entered in the pool's table (statics.h).
 *
 * Most words that a transaction writes cannot be such a pointer whatever their type: they are null,
 * lie in the pool, are small numbers, or text and hashes above the address space of a process. Only
 * the others are looked up in the heap. So one of those two fields that leads into its own pool is
 * not found here, where a look-up of every pointer would be its price, but by who asks for slow
 * checks: with NVMOVE_DEBUG=compare words that lie in the pool are looked up, too; and by a check
 * of the whole pool (check_words.c).
 */
#include "judge/pointers.h"
#include "heap/heap_chunks.h"
#include "types/judged.h"

#include "core/captured.h"
#include "core/map.h"
#include "heap/heap_locate.h"
#include "judge/judge.h"
#include "judge/own_image.h"
#include "symbols/statics.h"

#include <string.h>

static enum nvm_error check_suspect(struct nvmi_judge *judge, uint64_t number) {
  uint64_t i = number % NVMI_SUSPECTS;
  return nvmi_judge_word(judge, judge->suspects[i].offset, judge->suspects[i].value);
}

/* In a block that is known it is checked. Else what type that has is asked for; then the oldest is
 * checked, and makes room. */
static enum nvm_error suspect(struct nvmi_judge *judge, uint64_t offset, uint64_t value) {
  struct nvm_pool *pool = judge->pool;
  if (nvmi_judge_knows(judge, offset))
    return nvmi_judge_word(judge, offset, value);
  uint64_t in_heap = offset - pool->header.heap_offset, number = judge->suspected++;
  struct nvmi_location at;
  if (in_heap >> NVM_CHUNK_SHIFT < pool->heap->chunks_max &&
      nvmi_block_locate(pool->heap, in_heap, &at)) {
    const struct nvmi_span *span = atomic_load_explicit(&at.chunk->span, memory_order_relaxed);
    if (NVMI_LIKELY(span != NULL))
      __builtin_prefetch(nvmi_type_word(nvmi_located_geometry(pool, &at), span, at.index));
  }
  enum nvm_error error = number < NVMI_SUSPECTS ? NVM_OK : check_suspect(judge, number);
  judge->suspects[number % NVMI_SUSPECTS].offset = offset;
  judge->suspects[number % NVMI_SUSPECTS].value = value;
  return error;
}

static enum nvm_error check_suspects(struct nvmi_judge *judge) {
  uint64_t first = judge->suspected < NVMI_SUSPECTS ? 0 : judge->suspected - NVMI_SUSPECTS;
  enum nvm_error error = NVM_OK;
  for (uint64_t i = first; i < judge->suspected && !error; i++)
    error = check_suspect(judge, i);
  return error;
}

/* Whether some word of the line is neither null nor above all addresses; without branches, as the
 * answer is no for text, hashes and zeros. Of such a word nothing is left after the shift, of null
 * as of any other some bit is: only zero minus one has the highest bit. */
static NVMI_RACES_WITH_NEIGHBOURS bool is_suspect(const struct nvm_pool *pool, uint64_t offset) {
  uint64_t words[8], suspects = 0;
  memcpy(words, pool->work + offset, sizeof words);
  for (unsigned word = 0; word < 8; word++)
    suspects |= ((words[word] - 1) >> NVMI_ADDRESS_BITS) - 1;
  return suspects >> 63;
}

/* Bit i: some byte of word i is in the mask. */
static inline unsigned words_of(uint64_t mask) {
  mask |= mask >> 4;
  mask |= mask >> 2;
  mask |= mask >> 1;
  return (unsigned)((mask & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56);
}

/* `line`: its bytes, in the pool or elsewhere. */
static inline NVMI_RACES_WITH_NEIGHBOURS enum nvm_error
check_line(struct nvmi_judge *judge, uint64_t offset, const char *line, uint64_t mask) {
  for (unsigned words = words_of(mask); words; words &= words - 1) {
    unsigned word = (unsigned)__builtin_ctz(words);
    uint64_t value;
    memcpy(&value, line + sizeof value * word, sizeof value);
    if (NVMI_LIKELY(!nvmi_may_be_unsafe(judge, value)))
      continue;
    enum nvm_error error = suspect(judge, offset + sizeof value * word, value);
    if (error)
      return error;
  }
  return NVM_OK;
}

/* A block in which no type puts a pointer, or one without a type, is passed over whole. */
static inline bool is_pointerless(const struct nvmi_judge *judge, uint64_t offset) {
  return !judge->words && offset >= judge->start && offset + NVM_LINE_SIZE <= judge->end;
}

static inline struct nvmi_judge judge_of(const struct nvmi_log *log, bool quiet) {
  struct nvm_pool *pool = log->pool;
  return (struct nvmi_judge){.pool = pool,
                             .log = log,
                             .first = pool->header.base,
                             .size = pool->compare ? 0 : pool->header.range,
                             .quiet = quiet};
}

static inline enum nvm_error end_of(struct nvmi_judge *judge, enum nvm_error error) {
  if (!error)
    error = check_suspects(judge);
  if (NVMI_UNLIKELY(judge->has_fates))
    nvmi_fates_end(&judge->fates);
  return error;
}

static inline enum nvm_error check_lines(const struct nvmi_log *log, const struct nvmi_line *lines,
                                         size_t count, bool only_ranges, bool quiet) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_judge judge = judge_of(log, quiet);
  for (size_t i = 0; i < count; i++) {
    if (only_ranges && !(lines[i].line & NVMI_RANGE))
      continue;
    if (i + NVMI_LINES_AHEAD < count)
      __builtin_prefetch((void *)(lines[i + NVMI_LINES_AHEAD].line << 6)); /* a range: anything */
    bool range = lines[i].line & NVMI_RANGE;
    uint64_t mask = range ? UINT64_MAX : lines[i].mask;
    uint64_t at = (nvmi_line_first(&lines[i]) << 6) - pool->header.base;
    uint64_t end = at + (nvmi_line_count(&lines[i]) << 6);
    if (range && (at < judge.start || at >= judge.end))
      nvmi_judge_look_up(&judge, at); /* of most long ones one look is enough */
    for (; at < end; at += NVM_LINE_SIZE) {
      if (is_pointerless(&judge, at)) {
        at = judge.end / NVM_LINE_SIZE * NVM_LINE_SIZE - NVM_LINE_SIZE; /* its last whole line */
        continue;
      }
      enum nvm_error error = NVM_OK;
      if (pool->judges_records)
        error = nvmi_judge_line(&judge, at, pool->work + at, mask);
      else if (mask != UINT64_MAX || is_suspect(pool, at))
        error = check_line(&judge, at, pool->work + at, mask);
      if (error)
        return end_of(&judge, error);
    }
  }
  return end_of(&judge, NVM_OK);
}

/* A copy of a line, whatever others have stored there since. */
static NVMI_RACES_WITH_NEIGHBOURS enum nvm_error check_copy(struct nvmi_judge *judge,
                                                            const struct nvmi_captured *copy) {
  uint64_t at = (copy->line << 6) - judge->pool->header.base;
  const char *line = copy->bytes;
  char bytes[NVM_LINE_SIZE];
  if (!judge->image) {
    memcpy(bytes, judge->pool->work + at, sizeof bytes);
    for (uint64_t left = copy->mask; left; left &= left - 1)
      bytes[__builtin_ctzll(left)] = copy->bytes[__builtin_ctzll(left)];
    line = bytes;
  }
  return judge->pool->judges_records ? nvmi_judge_line(judge, at, line, copy->mask)
                                     : check_line(judge, at, line, copy->mask);
}

static enum nvm_error check_copies(struct nvmi_log *log, const struct nvmi_array *copies,
                                   const struct nvmi_array *image, bool quiet) {
  struct nvmi_judge judge = judge_of(log, quiet);
  const struct nvmi_captured *all = copies->items;
  enum nvm_error error = NVM_OK;
  judge.image = image;
  for (size_t i = 0; i < copies->count && !error; i++)
    error = check_copy(&judge, &all[i]);
  return end_of(&judge, error);
}

/* Each transaction is judged by what it stored itself; what others stored since, their commits
 * judge. */
static enum nvm_error check_own(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                                bool quiet) {
  struct nvmi_array *kept = &nvmi_thread_self()->image, image;
  bool borrowed = nvmi_array_borrow(kept, &image);
  enum nvm_error error = NVM_ENOMEMORY;
  if (nvmi_own_image(log, lines, count, &image)) {
    error = check_copies(log, &image, &image, quiet);
    if (!error && !log->pool->method->own_bytes)
      error = check_lines(log, lines, count, true, quiet);
  } else
    nvmi_fail(NVM_ENOMEMORY, log->pool->path, "out of memory to look at a transaction's pointers");
  nvmi_array_return(kept, &image, sizeof(struct nvmi_captured), borrowed);
  return error;
}

/* What is captured is committed as it was then. Where something is wrong with it, the transaction may
 * have written it again; where members decide about others, all is looked at in the image. */
enum nvm_error nvmi_check_pointers(struct nvmi_log *log, const struct nvmi_line *lines,
                                   size_t count) {
  struct nvm_pool *pool = log->pool;
  if (nvmi_heap_ready(pool))
    return NVM_ECORRUPT;
  if (NVMI_UNLIKELY(log->owner->others_stand) && pool->method->own_bytes)
    return check_own(log, lines, count, false);
  bool quiet = log->owner->looks_again;
  if (NVMI_UNLIKELY(log->captured.count && pool->judges_records))
    return check_own(log, lines, count, quiet);
  bool may_be_newer = log->alias.count; /* than what is in place */
  enum nvm_error error = check_lines(log, lines, count, false, quiet || may_be_newer);
  if (NVMI_UNLIKELY(may_be_newer && error))
    return check_own(log, lines, count, quiet);
  if (NVMI_UNLIKELY(log->captured.count && !error) && check_copies(log, &log->captured, NULL, true))
    error = check_own(log, lines, count, quiet);
  return error;
}

static bool is_of(const struct nvm_pool *pool, const struct nvmi_line *item) {
  return nvmi_pool_at((void *)(nvmi_line_first(item) << 6)) == pool;
}

/* One look for many: it may be one at all that the transaction has stored. */
void nvmi_check_late(struct nvmi_log *log, size_t from, size_t end) {
  const struct nvmi_line *items = log->owner->nested.items;
  while (log->pool->check_pointers && from < end) {
    size_t first = from;
    while (from < end && is_of(log->pool, &items[from]))
      from++;
    if (from > first && nvmi_check_pointers(log, items + first, from - first))
      nvmi_fatal(NVM_EUNSAFE, log->pool->path,
                 "a signal handler that interrupted a commit stored an unsafe pointer");
    from += from == first; /* of another pool */
  }
}

bool nvmi_is_judged_at(struct nvm_pool *pool, uintptr_t start, uintptr_t end) {
  struct nvmi_judge judge = {.pool = pool};
  uint64_t base = pool->header.base, last = end - base;
  for (uint64_t at = start - base; at < last; at = judge.end) {
    nvmi_judge_look_up(&judge, at);
    if (judge.words)
      return true;
  }
  return false;
}

/* Static data may be marked; whether it is, the commit knows. */
void __nvm_check_pointer(void *Slot, void *Value, const struct nvm_site *Site) {
  NVM_POOL *pool = nvmi_pool_at(Slot);
  if (!pool || !Value || nvmi_pool_at(Value) == pool || nvmi_is_static(Value))
    return;
  nvmi_die(pool->path, "%s:%u:%u: unsafe pointer: %s at %p gets %p, which lies in %s", Site->file,
           Site->line, Site->column, Site->field ? Site->field : "a persistent pointer", Slot,
           Value, nvmi_pool_at(Value) ? "another pool" : "volatile memory");
}
