/* check_words.c: does every pointer of a pool lead somewhere?
 *
 * Looks at the words that the types of the blocks describe. A fault is told with the field, the
 * type and the offset of the word. What nobody decides (unions, blocks without type)
 * and numbers that look like addresses are not judged.
 *
 * Garbage is freed by several transactions (gc/collect.c, gc/release.c). A crash between two of them
 * leaves garbage with pointers to blocks that are free. No data are lost by that: such a pointer is
 * reported as one in garbage, and is no fault. Which blocks are garbage is only asked where there
 * are faults.
 */
#include "fsck/check_words.h"

#include "format/address.h"
#include "fsck/repair.h"
#include "gc/collect.h"
#include "gc/reach.h"
#include "heap/heap_chunks.h"
#include "heap/heap_types.h"
#include "symbols/statics.h"
#include "types/block_map.h"
#include "types/crew.h"
#include "types/types.h"
#include "types/words.h"

#include "nvmove/inspect.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct check {
  struct nvm_pool *pool;
  struct nvmi_block_map map;
  void (*report)(void *, const struct nvm_bad_pointer *);
  void *context;
  uint64_t faults;
  struct nvmi_repair *repair;      /* or null: only look */
  bool null;                       /* what is wrong becomes null */
  bool counts;                     /* faults are counted, and neither reported nor repaired */
  struct nvmi_reach *reach;        /* null: not known */
  const struct nvmi_block *holder; /* of the word that is looked at */
};

/* In a block that the root does not lead to. */
static bool is_garbage(const struct check *check) {
  return check->reach && !nvmi_is_reached(check->reach, check->holder->offset);
}

static void __attribute__((format(printf, 4, 5))) fault(struct check *check,
                                                        const struct nvmi_word *word,
                                                        struct nvm_bad_pointer bad,
                                                        const char *format, ...) {
  char what[160], line[320];
  va_list arguments;
  bad.in_garbage = is_garbage(check);
  if (check->counts) {
    check->faults++;
    return;
  }
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  bad.offset = (uint64_t)(word->at - check->pool->home);
  snprintf(line, sizeof line, "field %s of %s at %#llx %s", nvmi_field_name(word->field),
           word->type->name, (unsigned long long)bad.offset, what);
  if (check->null) {
    memset(word->at, 0, sizeof(uint64_t));
    nvmi_mended(check->repair, "%s; it is null", line);
    return;
  }
  check->faults += !bad.in_garbage;
  if (check->repair && !bad.in_garbage)
    nvmi_left(check->repair, "%s (--null-dangling makes it null)", line);
  bad.line = line;
  if (check->report)
    check->report(check->context, &bad);
}

static struct nvm_bad_pointer dangling(uint64_t to) {
  return (struct nvm_bad_pointer){.is_dangling = true, .leads_to = to};
}
static const struct nvm_bad_pointer other;

/* Below are small numbers that programs put into pointers, above no process has addresses. */
static bool is_address(uint64_t value) { return value >= 0x1000 && value < UINT64_C(1) << 47; }

/* Where a block of the heap begins, free or allocated; or where one may, in a run that is free. */
static bool is_slot(const struct check *check, uint64_t offset) {
  const struct nvm_pool *pool = check->pool;
  uint64_t chunk = (offset - pool->header.heap_offset) >> NVM_CHUNK_SHIFT;
  uint32_t head = chunk < check->map.chunks ? check->map.run[chunk] : 0;
  if (!head)
    return chunk < check->map.chunks;
  uint64_t word = *nvmi_chunk_word(check->pool, head - 1);
  uint64_t start = nvmi_chunk_offset(pool, head - 1);
  if ((word & 0xff) == NVM_CHUNK_LARGE)
    return offset == start;
  const struct nvmi_class_shape *shape = &check->map.shapes[word >> 8 & 0xff];
  uint64_t inside = offset - start - shape->first;
  return offset >= start + shape->first && inside % shape->block_size == 0 &&
         inside / shape->block_size < shape->blocks;
}

struct range {
  struct check *check;
  const struct nvmi_word *end;
  uint64_t end_offset;
  const struct nvm_type *target;
  const struct nvmi_block *block;
  bool begins;
};

static bool look_for_begin(void *context, const struct nvmi_word *word) {
  struct range *range = context;
  const struct nvm_field *field = word->field, *end = range->end->field;
  uint64_t offset;
  if (field != end && field->kind == NVM_FIELD_POINTER && field->target == end->target &&
      field->count == 1 && word->at >= range->end->at - end->offset &&
      word->at < range->end->at - end->offset + word->type->size &&
      nvmi_pointer_offset(&range->check->pool->header, nvmi_word_value(word) & ~field->tag,
                          &offset) &&
      offset - range->block->offset < range->block->size &&
      (range->end_offset - offset) % range->target->size == 0)
    range->begins = true;
  return !range->begins;
}

/* C allows a pointer to the end of an array, and where the array fills its block that is where the
 * next block begins: a free one, or one that the pointer led to before it was freed. What tells:
 *
 * - Nobody points behind a single object but who thinks of it as an array, and then keeps the begin
 *   beside it: a member of the same record, no element of an array, whose sibling of the same type
 *   leads into the block before, and from there to the end are whole elements (begin, end and limit
 *   of a vector that has one).
 * - Nodes that lead to their own kind are no such thing: of a freed node the one before is
 *   somebody's child, too.
 * - Behind an array of two or more, and where the pointer leads to no record (bytes, numbers, not
 *   known), an end may be kept alone: there a freed block is not found. */
static bool may_be_end(struct check *check, const struct nvmi_word *word, uint64_t offset,
                       const struct nvm_type *target) {
  struct nvmi_block before, holder;
  if (!nvmi_block_map_find(&check->map, offset - 1, &before))
    return false;
  if (!is_slot(check, offset) || !target || target->size <= sizeof(uint64_t))
    return true;
  const struct nvm_type *type = nvmi_type_layout(check->pool, before.type);
  if (!type || (type->id == target->id && before.size >= 2 * target->size))
    return true;
  uint64_t at = (uint64_t)(word->at - check->pool->home);
  if (word->field->count != 1 || word->type->id == target->id ||
      !nvmi_block_map_find(&check->map, at, &holder))
    return false;
  struct range range = {check, word, offset, target, &before, false};
  nvmi_block_words(check->pool, word->type, check->pool->home + holder.offset, holder.size,
                   look_for_begin, &range);
  return range.begins;
}

static void check_inside(struct check *check, const struct nvmi_word *word, uint64_t value,
                         uint64_t offset) {
  const struct nvm_type *target = nvmi_type_by_id(check->pool, word->field->target);
  struct nvmi_block block;
  if (!nvmi_block_map_find(&check->map, offset, &block) && !may_be_end(check, word, offset, target))
    fault(check, word, dangling(offset), "leads to %#llx, where nothing is allocated",
          (unsigned long long)offset);
  else if (target && target->alignment && value % target->alignment)
    fault(check, word, other, "leads to %#llx, which is not aligned for %s",
          (unsigned long long)offset, target->name);
}

/* A pointer to static data lies where the next opening will look for one. */
static void check_mark(struct check *check, const struct nvmi_word *word, bool is_static) {
  uint64_t offset = (uint64_t)(word->at - check->pool->home);
  uint32_t head = check->map.run[(offset - check->pool->header.heap_offset) >> NVM_CHUNK_SHIFT];
  uint64_t chunk = *nvmi_chunk_word(check->pool, head - 1);
  bool is_large = (chunk & 0xff) == NVM_CHUNK_LARGE;
  if (check->repair && !check->counts && !is_large && !(chunk & NVM_SPAN_STATICS)) {
    nvmi_chunk_mark(check->pool, head - 1, chunk | NVM_SPAN_STATICS);
    nvmi_mended(check->repair, "chunk %u: marked as a span with pointers to static data", head - 1);
  } else if (is_large ? !is_static : !(chunk & NVM_SPAN_STATICS))
    fault(check, word, other, "leads to static data, and its span is not marked for that");
}

static bool check_word(void *context, const struct nvmi_word *word) {
  struct check *check = context;
  const struct nvm_header *header = &check->pool->header;
  uint32_t kind = word->field->kind;
  uint64_t value = nvmi_word_value(word) & ~word->field->tag, offset;
  bool is_static = kind == NVM_FIELD_FUNCTION || kind == NVM_FIELD_STATIC_POINTER;
  unsigned flags;
  if (!is_static && kind != NVM_FIELD_POINTER && kind != NVM_FIELD_WEAK_POINTER)
    return true;
  if (!is_address(value))
    return true;
  if (nvmi_statics_look_up(check->pool, value, &flags) >= 0) {
    check_mark(check, word, is_static);
    return true;
  }
  if (nvmi_pointer_offset(header, value, &offset)) {
    if (is_static)
      fault(check, word, other, "should lead to the program, and leads into the pool");
    else
      check_inside(check, word, value, offset);
  } else if (value - NVM_RANGE_BASE < NVM_RANGE_SIZE) {
    fault(check, word, other, "leads to another pool (%#llx)", (unsigned long long)value);
  } else {
    fault(check, word, other, "leads out of the pool (%#llx)", (unsigned long long)value);
  }
  return true;
}

static bool check_block(void *context, const struct nvmi_block *block) {
  struct check *check = context;
  const struct nvm_type *type = nvmi_type_layout(check->pool, block->type);
  check->holder = block;
  return !type || nvmi_block_words(check->pool, type, check->pool->home + block->offset,
                                   block->size, check_word, check);
}

static void check_run(void *context, struct nvm_pool *pool, uint32_t chunk) {
  nvmi_run_blocks(pool, chunk, check_block, context);
}

/* `repair` looks after it by itself. */
static void check_root(struct check *check) {
  const struct nvm_pool *pool = check->pool;
  uint64_t root = *(const uint64_t *)(pool->home + NVM_ROOT_OFFSET), offset;
  struct nvmi_block block;
  if (check->repair || !nvmi_pointer_offset(&pool->header, root, &offset) ||
      nvmi_block_map_find(&check->map, offset, &block))
    return;
  struct nvm_bad_pointer bad = dangling(offset);
  bad.offset = NVM_ROOT_OFFSET;
  bad.line = "the root lies in no block";
  check->faults++;
  if (check->report)
    check->report(check->context, &bad);
}

static int check_runs(struct check *check) {
  return nvmi_each_run(check->pool, 1, check_run, check, sizeof *check) < 0 ? -1 : 0;
}

/* With pointers that cannot be followed nothing is known to be garbage. */
static int check_with_reach(struct check *check) {
  struct nvmi_reach reach = {0};
  if (nvmi_reach(&reach, check->pool) == 0)
    check->reach = &reach;
  int result = check_runs(check);
  if (check->reach)
    nvmi_reach_free(&reach);
  check->reach = NULL;
  return result;
}

/* Most pools have no fault: then it is enough to count. */
static long long check_all(struct check *check) {
  if (nvmi_block_map_make(&check->map, check->pool))
    return -1;
  check->counts = true;
  int result = check_runs(check);
  bool some = check->faults;
  check->counts = false;
  check->faults = 0;
  if (result == 0 && some)
    result = check_with_reach(check);
  check_root(check);
  nvmi_block_map_free(&check->map);
  return result ? -1 : (long long)check->faults;
}

long long nvm_pool_each_bad_pointer(NVM_POOL *pool,
                                    void (*report)(void *, const struct nvm_bad_pointer *),
                                    void *context) {
  if (nvmi_check_quiet(pool))
    return -1;
  struct check check = {.pool = pool, .report = report, .context = context};
  return check_all(&check);
}

struct lines {
  void (*report)(void *, const char *);
  void *context;
};

static void report_line(void *context, const struct nvm_bad_pointer *bad) {
  const struct lines *lines = context;
  if (lines->report && !bad->in_garbage)
    lines->report(lines->context, bad->line);
}

long long nvm_pool_verify_pointers(NVM_POOL *pool, void (*report)(void *, const char *),
                                   void *context) {
  struct lines lines = {report, context};
  return nvm_pool_each_bad_pointer(pool, report_line, &lines);
}

long long nvmi_mend_pointers(struct nvmi_repair *repair, bool null) {
  struct check check = {.pool = repair->pool, .repair = repair, .null = null};
  return check_all(&check);
}
