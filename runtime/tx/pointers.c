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
#include "tx/pointers.h"

#include "heap/heap_locate.h"

#include "base/sort.h"
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "order/order.h"
#include "symbols/statics.h"
#include "types/types.h"
#include "types/words.h"

#include <string.h>

/* Reads whole lines, of which other threads may write words that are not judged here. */
#define RACES_WITH_NEIGHBOURS __attribute__((no_sanitize("thread")))

/* No process has memory below: Linux keeps the first pages free for null pointers. */
#define ADDRESS_MIN UINT64_C(0x1000)
enum { ADDRESS_BITS = 47 };
#define ADDRESS_MAX (UINT64_C(1) << ADDRESS_BITS)

enum { SUSPECTS = 8 }; /* that wait at a time */

/* What is known of the block that a word lies in; words in a row mostly share it. */
struct judge {
  struct nvm_pool *pool;
  uint64_t first, size; /* addresses in the pool that are not looked at */
  uint64_t start, end;  /* in the file */
  const struct nvm_type *type;
  uint64_t words;  /* judged ones of a record, 0: none */
  uint64_t record; /* bytes from one record to the next, or more than the block has */
  /* The newest words that may be such a pointer, not looked up yet: a span's own tables are seldom
   * in the cache, nor where they lie in the processor's table of pages. */
  struct {
    uint64_t offset, value;
  } suspects[SUSPECTS];
  uint64_t suspected; /* so far */
  bool quiet;         /* nobody is told: the caller will look again */
};

static void look_up(struct judge *judge, uint64_t offset) {
  struct nvm_pool *pool = judge->pool;
  uint64_t in_heap = offset - pool->header.heap_offset;
  struct nvmi_location at;
  judge->start = offset;
  judge->end = offset + sizeof(uint64_t);
  judge->words = 0;
  if (in_heap >> NVM_CHUNK_SHIFT >= pool->heap->chunks_max ||
      !nvmi_block_locate(pool->heap, in_heap, &at))
    return;
  const struct nvmi_geometry *geometry = nvmi_located_geometry(pool, &at);
  const struct nvmi_span *span = nvmi_span_at(pool, at.chunk);
  if (NVMI_UNLIKELY(!span))
    return;
  judge->start = offset - at.inside;
  judge->end = judge->start + (geometry->block_size ? geometry->block_size : nvmi_block_size(span));
  unsigned number = *nvmi_type_word(geometry, span, at.index) - 1u; /* of no type: the highest */
  uint64_t words = number < pool->type_count ? nvmi_judged_words(pool, number) : 0;
  judge->words = words & NVMI_JUDGED_WORDS;
  if (!judge->words)
    return;
  judge->type = nvmi_type_layout(pool, number);
  judge->record = words >> NVMI_JUDGED_FLEXIBLE_BIT & 1 ? UINT64_MAX : judge->type->size;
}

/* What is freed by this very transaction points to nothing any more. */
static bool is_live(const struct judge *judge, uint64_t offset) {
  struct nvmi_location at;
  if (!nvmi_block_locate(judge->pool->heap, offset - judge->pool->header.heap_offset, &at))
    return false;
  const struct nvmi_span *span = nvmi_span_at(judge->pool, at.chunk);
  return span && nvmi_is_live(span, at.index);
}

static __attribute__((noinline)) enum nvm_error
check_field(const struct judge *judge, uint64_t offset, uint64_t inside, void *value) {
  struct nvm_pool *pool = judge->pool;
  const struct nvm_field *field =
      nvmi_field_at(pool, judge->type, pool->work + offset - inside, inside);
  if (!field || !nvmi_is_judged(field->kind) || !is_live(judge, offset))
    return NVM_OK;
  value = (void *)((uintptr_t)value & ~field->tag);
  struct nvm_pool *owner = nvmi_pool_at(value);
  bool is_static = field->kind == NVM_FIELD_FUNCTION || field->kind == NVM_FIELD_STATIC_POINTER;
  if (owner == pool && !is_static)
    return NVM_OK;
  if (!owner) {
    if (!is_static && nvmi_root_hooks && nvmi_root_hooks->correct(pool, offset, field->tag))
      return NVM_OK;
    enum nvm_error error = nvmi_static_note(pool, field->kind, (uint64_t)(uintptr_t)value, offset);
    if (error != NVM_EUNSAFE)
      return error;
  }
  if (judge->quiet)
    return NVM_EUNSAFE;
  nvmi_trace(pool, NVM_TRACE_UNSAFE, offset, (uint64_t)(uintptr_t)value);
  const char *root = owner || !nvmi_root_hooks ? NULL : nvmi_root_hooks->around(value);
  nvmi_fail(
      NVM_EUNSAFE, pool->path,
      "unsafe pointer: field %s of the %s at %p is %p, which lies in %s%s; %s",
      nvmi_field_name(field), judge->type->name, (void *)(pool->work + offset - inside), value,
      owner  ? owner->path
      : root ? "root "
             : "volatile memory",
      root ? root : "",
      root ? nvmi_root_hooks->advice(root) : "build with nvmove-cc's checks to see the store");
  return NVM_EUNSAFE;
}

static inline bool is_known(const struct judge *judge, uint64_t offset) {
  return offset - judge->start < judge->end - judge->start;
}

static inline enum nvm_error check_word(struct judge *judge, uint64_t offset, uint64_t value) {
  if (!is_known(judge, offset))
    look_up(judge, offset);
  if (!judge->words)
    return NVM_OK;
  uint64_t inside = offset - judge->start;
  if (inside >= judge->record)
    inside %= judge->record;
  uint64_t word = inside / sizeof(uint64_t);
  if (!(judge->words >> (word < NVMI_JUDGED_LATER_BIT ? word : NVMI_JUDGED_LATER_BIT) & 1))
    return NVM_OK;
  return check_field(judge, offset, inside, (void *)(uintptr_t)value);
}

static enum nvm_error check_suspect(struct judge *judge, uint64_t number) {
  uint64_t i = number % SUSPECTS;
  return check_word(judge, judge->suspects[i].offset, judge->suspects[i].value);
}

/* In a block that is known it is checked. Else what type that has is asked for; then the oldest is
 * checked, and makes room. */
static enum nvm_error suspect(struct judge *judge, uint64_t offset, uint64_t value) {
  struct nvm_pool *pool = judge->pool;
  if (is_known(judge, offset))
    return check_word(judge, offset, value);
  uint64_t in_heap = offset - pool->header.heap_offset, number = judge->suspected++;
  struct nvmi_location at;
  if (in_heap >> NVM_CHUNK_SHIFT < pool->heap->chunks_max &&
      nvmi_block_locate(pool->heap, in_heap, &at)) {
    const struct nvmi_span *span = atomic_load_explicit(&at.chunk->span, memory_order_relaxed);
    if (NVMI_LIKELY(span != NULL))
      __builtin_prefetch(nvmi_type_word(nvmi_located_geometry(pool, &at), span, at.index));
  }
  enum nvm_error error = number < SUSPECTS ? NVM_OK : check_suspect(judge, number);
  judge->suspects[number % SUSPECTS].offset = offset;
  judge->suspects[number % SUSPECTS].value = value;
  return error;
}

static enum nvm_error check_suspects(struct judge *judge) {
  uint64_t first = judge->suspected < SUSPECTS ? 0 : judge->suspected - SUSPECTS;
  enum nvm_error error = NVM_OK;
  for (uint64_t i = first; i < judge->suspected && !error; i++)
    error = check_suspect(judge, i);
  return error;
}

/* Whether some word of the line is neither null nor above all addresses; without branches, as the
 * answer is no for text, hashes and zeros. Of such a word nothing is left after the shift, of null
 * as of any other some bit is: only zero minus one has the highest bit. */
static RACES_WITH_NEIGHBOURS bool is_suspect(const struct nvm_pool *pool, uint64_t offset) {
  uint64_t words[8], suspects = 0;
  memcpy(words, pool->work + offset, sizeof words);
  for (unsigned word = 0; word < 8; word++)
    suspects |= ((words[word] - 1) >> ADDRESS_BITS) - 1;
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
static inline RACES_WITH_NEIGHBOURS enum nvm_error check_line(struct judge *judge, uint64_t offset,
                                                              const char *line, uint64_t mask) {
  for (unsigned words = words_of(mask); words; words &= words - 1) {
    unsigned word = (unsigned)__builtin_ctz(words);
    uint64_t value;
    memcpy(&value, line + sizeof value * word, sizeof value);
    if (NVMI_LIKELY(value - ADDRESS_MIN >= ADDRESS_MAX - ADDRESS_MIN ||
                    value - judge->first < judge->size))
      continue;
    enum nvm_error error = suspect(judge, offset + sizeof value * word, value);
    if (error)
      return error;
  }
  return NVM_OK;
}

/* A block in which no type puts a pointer, or one without a type, is passed over whole. */
static inline bool is_pointerless(const struct judge *judge, uint64_t offset) {
  return !judge->words && offset >= judge->start && offset + NVM_LINE_SIZE <= judge->end;
}

static inline struct judge judge_of(struct nvm_pool *pool, bool quiet) {
  return (struct judge){.pool = pool,
                        .first = pool->header.base,
                        .size = pool->compare ? 0 : pool->header.span,
                        .quiet = quiet};
}

static enum nvm_error check_lines(struct nvm_pool *pool, const struct nvmi_line *lines,
                                  size_t count, bool quiet) {
  struct judge judge = judge_of(pool, quiet);
  for (size_t i = 0; i < count; i++) {
    if (i + NVMI_LINES_AHEAD < count)
      __builtin_prefetch((void *)(lines[i + NVMI_LINES_AHEAD].line << 6)); /* a range: anything */
    bool range = lines[i].line & NVMI_RANGE;
    uint64_t mask = range ? UINT64_MAX : lines[i].mask;
    uint64_t at = (nvmi_line_first(&lines[i]) << 6) - pool->header.base;
    uint64_t end = at + (nvmi_line_count(&lines[i]) << 6);
    if (range && (at < judge.start || at >= judge.end))
      look_up(&judge, at); /* of most long ones one look is enough */
    for (; at < end; at += NVM_LINE_SIZE) {
      if (is_pointerless(&judge, at)) {
        at = judge.end / NVM_LINE_SIZE * NVM_LINE_SIZE - NVM_LINE_SIZE; /* its last whole line */
        continue;
      }
      if (mask == UINT64_MAX && !is_suspect(pool, at))
        continue;
      enum nvm_error error = check_line(&judge, at, pool->work + at, mask);
      if (error)
        return error;
    }
  }
  return check_suspects(&judge);
}

static int by_line_and_sequence(const void *a, const void *b) {
  const struct nvmi_sealed *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* One copy of each line: what was sealed last of each byte. */
static void merge_copies(struct nvmi_array *copies) {
  struct nvmi_sealed *all = copies->items;
  size_t kept = 0;
  nvmi_sort(all, copies->count, sizeof *all, by_line_and_sequence);
  for (size_t i = 1; i < copies->count; i++) {
    if (all[i].line != all[kept].line) {
      all[++kept] = all[i];
      continue;
    }
    for (uint64_t left = all[i].mask; left; left &= left - 1)
      all[kept].bytes[__builtin_ctzll(left)] = all[i].bytes[__builtin_ctzll(left)];
    all[kept].mask |= all[i].mask;
  }
  copies->count = kept + 1;
}

/* Bytes that the transaction has written again are no part of the copies any more. */
static void forget_rewritten(const struct nvmi_array *copies, const struct nvmi_line *lines,
                             size_t count) {
  struct nvmi_sealed *all = copies->items;
  for (size_t n = 0; n < count; n++) {
    uint64_t first = nvmi_line_first(&lines[n]), end = first + nvmi_line_count(&lines[n]);
    size_t low = 0, high = copies->count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (all[middle].line < first)
        low = middle + 1;
      else
        high = middle;
    }
    for (; low < copies->count && all[low].line < end; low++)
      all[low].mask &= lines[n].line & NVMI_RANGE ? 0 : ~lines[n].mask;
  }
}

/* A copy of a line, whatever others have stored there since. */
static RACES_WITH_NEIGHBOURS enum nvm_error
check_copy(struct judge *judge, const struct nvmi_sealed *copy, uint64_t mask) {
  uint64_t at = (copy->line << 6) - judge->pool->header.base;
  char bytes[NVM_LINE_SIZE];
  memcpy(bytes, judge->pool->work + at, sizeof bytes);
  for (uint64_t left = copy->mask; left; left &= left - 1)
    bytes[__builtin_ctzll(left)] = copy->bytes[__builtin_ctzll(left)];
  return check_line(judge, at, bytes, mask);
}

static enum nvm_error check_copies(struct nvm_pool *pool, const struct nvmi_array *copies,
                                   bool quiet) {
  struct judge judge = judge_of(pool, quiet);
  const struct nvmi_sealed *all = copies->items;
  for (size_t i = 0; i < copies->count; i++) {
    enum nvm_error error = check_copy(&judge, &all[i], all[i].mask);
    if (error)
      return error;
  }
  return check_suspects(&judge);
}

/* What is sealed is committed as it was then. Where something is wrong with it, the transaction may
 * have written it again. */
static enum nvm_error check_sealed(const struct nvmi_log *log, const struct nvmi_line *lines,
                                   size_t count, bool quiet) {
  struct nvmi_array copies = {0};
  if (!check_copies(log->pool, &log->sealed, true))
    return NVM_OK;
  if (!nvmi_array_reserve(&copies, log->sealed.count, sizeof(struct nvmi_sealed))) {
    nvmi_fail(NVM_ENOMEMORY, log->pool->path, "out of memory to look at a transaction's pointers");
    return NVM_ENOMEMORY;
  }
  memcpy(copies.items, log->sealed.items, log->sealed.count * sizeof(struct nvmi_sealed));
  copies.count = log->sealed.count;
  merge_copies(&copies);
  forget_rewritten(&copies, lines, count);
  enum nvm_error error = check_copies(log->pool, &copies, quiet);
  nvmi_array_free(&copies, sizeof(struct nvmi_sealed));
  return error;
}

/* Each transaction is judged by what it stored itself; what others stored since, their commits
 * judge. */
static enum nvm_error check_own(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  struct nvmi_array copies = {0};
  log->pool->method->own_bytes(log, lines, count, &copies);
  enum nvm_error error = check_copies(log->pool, &copies, false);
  nvmi_array_free(&copies, sizeof(struct nvmi_sealed));
  return error;
}

enum nvm_error nvmi_check_pointers(struct nvmi_log *log, const struct nvmi_line *lines,
                                   size_t count) {
  struct nvm_pool *pool = log->pool;
  if (nvmi_heap_ready(pool))
    return NVM_ECORRUPT;
  if (NVMI_UNLIKELY(log->owner->others_stand) && pool->method->own_bytes)
    return check_own(log, lines, count);
  bool quiet = log->owner->looks_again;
  enum nvm_error error = check_lines(pool, lines, count, quiet);
  if (NVMI_UNLIKELY(log->sealed.count && !error))
    error = check_sealed(log, lines, count, quiet);
  return error;
}

bool nvmi_is_judged_at(struct nvm_pool *pool, uintptr_t start, uintptr_t end) {
  struct judge judge = judge_of(pool, true);
  uint64_t base = pool->header.base, last = end - base;
  for (uint64_t at = start - base; at < last; at = judge.end) {
    look_up(&judge, at);
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
