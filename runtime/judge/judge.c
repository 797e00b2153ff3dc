/* judge.c: see judge.h. */
#include "judge/judge.h"
#include "heap/heap_spans.h"
#include "types/judged.h"

#include "core/map.h"
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "heap/heap_locate.h"
#include "judge/own_image.h"
#include "symbols/statics.h"
#include "types/types.h"

#include <string.h>

void nvmi_judge_look_up(struct nvmi_judge *judge, uint64_t offset) {
  struct nvm_pool *pool = judge->pool;
  uint64_t in_heap = offset - pool->header.heap_offset;
  struct nvmi_location at;
  judge->start = offset;
  judge->end = offset + sizeof(uint64_t);
  judge->words = 0;
  judge->by_record = judge->has_volatile = false;
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
  judge->has_volatile = words >> NVMI_JUDGED_VOLATILE_BIT & 1;
  if (!judge->words)
    return;
  judge->by_record = words >> NVMI_JUDGED_BY_RECORD_BIT & 1;
  judge->type = nvmi_type_layout(pool, number);
  judge->record = words >> NVMI_JUDGED_FLEXIBLE_BIT & 1 ? UINT64_MAX : judge->type->size;
}

bool nvmi_has_volatile_at(struct nvm_pool *pool, uint64_t start, uint64_t end) {
  struct nvmi_judge judge = {.pool = pool};
  if (!pool->heap->built)
    return true;
  for (uint64_t at = start; at < end; at = judge.end) {
    nvmi_judge_look_up(&judge, at);
    if (judge.has_volatile)
      return true;
  }
  return false;
}

static bool is_freed(struct nvmi_judge *judge, const struct nvmi_span *span, uint32_t index) {
  if (!judge->has_fates && !nvmi_fates_start(&judge->fates, judge->log))
    nvmi_fatal(NVM_ENOMEMORY, judge->pool->path, "out of memory to look at a transaction's blocks");
  judge->has_fates = true;
  return nvmi_fate_of(&judge->fates, span, index) & (NVMI_FATE_FREES | NVMI_FATE_LOCAL);
}

/* What is freed by this very transaction points to nothing any more. What another one frees may
 * live on. */
static bool is_live(struct nvmi_judge *judge, uint64_t offset) {
  struct nvmi_location at;
  if (!nvmi_block_locate(judge->pool->heap, offset - judge->pool->header.heap_offset, &at))
    return false;
  const struct nvmi_span *span = nvmi_span_at(judge->pool, at.chunk);
  return span && (nvmi_is_live(span, at.index) || !is_freed(judge, span, at.index));
}

/* `record`: where it begins in the file. */
static __attribute__((noinline)) enum nvm_error
judge_field(struct nvmi_judge *judge, const struct nvm_type *type, uint64_t record,
            const struct nvm_field *field, uint64_t offset, uint64_t word) {
  struct nvm_pool *pool = judge->pool;
  if (!nvmi_is_judged(field->kind) || !is_live(judge, offset))
    return NVM_OK;
  void *value = (void *)(uintptr_t)(word & ~field->tag);
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
  char closed[256];
  if (!owner && nvmi_static_closed(pool, (uint64_t)(uintptr_t)value, closed, sizeof closed)) {
    nvmi_fail(NVM_EUNSAFE, pool->path,
              "unsafe pointer: field %s of the %s at %p is %p, where %s lay until that library was "
              "closed; close the pool and open it again, which tells the two apart",
              nvmi_field_name(field), type->name, (void *)(pool->work + record), value, closed);
    return NVM_EUNSAFE;
  }
  const char *root = owner || !nvmi_root_hooks ? NULL : nvmi_root_hooks->around(value);
  nvmi_fail(NVM_EUNSAFE, pool->path,
            "unsafe pointer: field %s of the %s at %p is %p, which lies in %s%s; %s",
            nvmi_field_name(field), type->name, (void *)(pool->work + record), value,
            owner  ? owner->path
            : root ? "root "
                   : "volatile memory",
            root ? root : "",
            root ? nvmi_root_hooks->advice(root)
                 : "build with nvmove-cc's checks to see the store");
  return NVM_EUNSAFE;
}

static struct nvmi_view view_of(const struct nvmi_judge *judge) {
  return judge->image ? (struct nvmi_view){nvmi_own_image_read, judge}
                      : nvmi_view_of(judge->pool->work);
}

enum nvm_error nvmi_judge_word(struct nvmi_judge *judge, uint64_t offset, uint64_t value) {
  if (!nvmi_judge_knows(judge, offset))
    nvmi_judge_look_up(judge, offset);
  if (!judge->words)
    return NVM_OK;
  uint64_t inside = offset - judge->start;
  if (inside >= judge->record)
    inside %= judge->record;
  uint64_t word = inside / sizeof(uint64_t);
  if (!(judge->words >> (word < NVMI_JUDGED_LATER_BIT ? word : NVMI_JUDGED_LATER_BIT) & 1))
    return NVM_OK;
  struct nvmi_view view = view_of(judge);
  const struct nvm_field *field =
      nvmi_field_at(judge->pool, judge->type, &view, offset - inside, inside);
  return field ? judge_field(judge, judge->type, offset - inside, field, offset, value) : NVM_OK;
}

/* Records of `type`, one behind the other from `first` on. */
static enum nvm_error each_record(const struct nvmi_judge *judge, const struct nvm_type *type,
                                  uint64_t first, uint64_t from, uint64_t to,
                                  nvmi_visit_record *visit, void *context) {
  enum nvm_error error = NVM_OK;
  if (!type->size || to <= first)
    return NVM_OK;
  uint64_t at = from <= first ? first : from - (from - first) % type->size;
  for (; at < to && at < judge->end && !error; at += type->size)
    error = visit(context, type, at);
  return error;
}

static enum nvm_error each_judged(const struct nvmi_judge *judge, uint64_t from, uint64_t to,
                                  nvmi_visit_record *visit, void *context) {
  const struct nvm_field *tail = nvmi_type_tail(judge->type);
  if (!tail)
    return each_record(judge, judge->type, judge->start, from, to, visit, context);
  const struct nvm_type *element = nvmi_type_by_id(judge->pool, tail->target);
  enum nvm_error error = NVM_OK;
  if (from < judge->start + judge->type->size)
    error = visit(context, judge->type, judge->start);
  if (!error && element && element != judge->type)
    error = each_record(judge, element, judge->start + tail->offset, from, to, visit, context);
  return error;
}

struct written {
  struct nvmi_judge *judge;
  uint64_t line, mask;
};

static inline bool is_written(const struct written *written, struct nvmi_deciding bytes) {
  uint64_t end = written->line + NVM_LINE_SIZE;
  uint64_t from = bytes.from > written->line ? bytes.from : written->line;
  uint64_t to = bytes.to < end ? bytes.to : end;
  return from < to && written->mask >> (from - written->line) << (NVM_LINE_SIZE - (to - from)) != 0;
}

/* Of `count` places, `stride` apart, the first of which is given: those that reach into the line. */
struct elements {
  uint32_t from, to;
};
static struct elements in_line(const struct written *written, struct nvmi_deciding first,
                               uint64_t stride, uint32_t count) {
  stride += !stride; /* of one */
  uint64_t from = written->line < first.to ? 0 : (written->line - first.to) / stride + 1;
  uint64_t last = written->line + NVM_LINE_SIZE - 1;
  uint64_t to = last < first.from ? 0 : (last - first.from) / stride + 1;
  return (struct elements){(uint32_t)(from < count ? from : count),
                           (uint32_t)(to < count ? to : count)};
}

static enum nvm_error judge_element(const struct written *written, const struct nvm_type *type,
                                    uint64_t record, const struct nvm_field *field, uint32_t n) {
  struct nvmi_judge *judge = written->judge;
  struct nvmi_view view = view_of(judge);
  uint64_t value, offset = record + field->offset + (uint64_t)n * field->stride;
  if (offset + sizeof value > judge->end ||
      (field->when && nvmi_field_decided_by(field, record, n).to > judge->end))
    return NVM_OK; /* the block ends before */
  view.read(view.context, offset, &value, sizeof value);
  if (!nvmi_may_be_unsafe(judge, value & ~field->tag) ||
      !nvmi_field_holds_in(field, &view, record, n))
    return NVM_OK;
  return judge_field(judge, type, record, field, offset, value);
}

static enum nvm_error judge_decided(const struct written *written, const struct nvm_type *type,
                                    uint64_t record, const struct nvm_field *field) {
  struct elements some = {0, field->count};
  enum nvm_error error = NVM_OK;
  if (field->when->follows)
    some = in_line(written, nvmi_field_decided_by(field, record, 0), field->stride, field->count);
  else if (!is_written(written, nvmi_field_decided_by(field, record, 0)))
    return NVM_OK;
  for (uint32_t n = some.from; n < some.to && !error; n++)
    if (is_written(written, nvmi_field_decided_by(field, record, n)))
      error = judge_element(written, type, record, field, n);
  return error;
}

/* Words that a look at the line's words misses. */
static enum nvm_error judge_hidden(const struct written *written, const struct nvm_type *type,
                                   uint64_t record, const struct nvm_field *field) {
  uint64_t first = record + field->offset, word = sizeof(uint64_t);
  struct elements some =
      in_line(written, (struct nvmi_deciding){first, first + word}, field->stride, field->count);
  enum nvm_error error = NVM_OK;
  for (uint32_t n = some.from; n < some.to && !error; n++) {
    uint64_t at = first + (uint64_t)n * field->stride;
    if ((at % word || field->tag >> NVMI_ADDRESS_BITS) &&
        is_written(written, (struct nvmi_deciding){at, at + word}))
      error = judge_element(written, type, record, field, n);
  }
  return error;
}

static enum nvm_error judge_record(void *context, const struct nvm_type *type, uint64_t record) {
  enum nvm_error error = NVM_OK;
  for (uint32_t i = 0; i < type->field_count && !error; i++) {
    const struct nvm_field *field = &type->fields[i];
    if (!nvmi_is_judged(field->kind))
      continue;
    if (field->when)
      error = judge_decided(context, type, record, field);
    if (!error && nvmi_is_hidden(type, field, record))
      error = judge_hidden(context, type, record, field);
  }
  return error;
}

/* Blocks beside those that were written may be others', and just come or go. */
enum nvm_error nvmi_judge_blocks(struct nvmi_judge *judge, uint64_t line, uint64_t mask,
                                 nvmi_visit_record *visit, void *context) {
  enum { WORD = sizeof(uint64_t) };
  enum nvm_error error = NVM_OK;
  for (uint64_t at = line, next; at < line + NVM_LINE_SIZE && !error; at = next) {
    next = at + WORD;
    if (!(mask >> (at - line) & 0xff))
      continue;
    if (!nvmi_judge_knows(judge, at))
      nvmi_judge_look_up(judge, at);
    next = judge->end < line + NVM_LINE_SIZE ? judge->end : line + NVM_LINE_SIZE;
    if (judge->words && judge->by_record)
      error = each_judged(judge, at, next, visit, context);
  }
  return error;
}

/* Those that have bytes of `mask`, within [at, end). */
static NVMI_RACES_WITH_NEIGHBOURS enum nvm_error
each_word(struct nvmi_judge *judge, uint64_t at, uint64_t end, const char *bytes, uint64_t mask) {
  enum nvm_error error = NVM_OK;
  for (uint64_t value; at < end && !error; at += sizeof value) {
    if (!(mask >> at % NVM_LINE_SIZE & 0xff))
      continue;
    memcpy(&value, bytes + at % NVM_LINE_SIZE, sizeof value);
    if (nvmi_may_be_unsafe(judge, value))
      error = nvmi_judge_word(judge, at, value);
  }
  return error;
}

enum nvm_error nvmi_judge_line(struct nvmi_judge *judge, uint64_t line, const char *bytes,
                               uint64_t mask) {
  struct written written = {judge, line, mask};
  enum nvm_error error = NVM_OK;
  for (uint64_t at = line, next; at < line + NVM_LINE_SIZE && !error; at = next) {
    next = at + sizeof(uint64_t);
    if (!(mask >> (at - line) & 0xff))
      continue;
    if (!nvmi_judge_knows(judge, at))
      nvmi_judge_look_up(judge, at);
    next = judge->end < line + NVM_LINE_SIZE ? judge->end : line + NVM_LINE_SIZE;
    if (!judge->words)
      continue;
    error = each_word(judge, at, next, bytes, mask);
    if (judge->by_record && !error)
      error = each_judged(judge, at, next, judge_record, &written);
  }
  return error;
}
