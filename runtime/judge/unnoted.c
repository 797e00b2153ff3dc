/* unnoted.c: see unnoted.h. */
#include "judge/unnoted.h"

#include "core/captured.h"
#include "core/lines.h"
#include "core/log_state.h"
#include "core/method.h"
#include "heap/heap_chunks.h"
#include "heap/heap_types.h"
#include "types/judged.h"
#include "types/types.h"

enum { LINE = NVM_LINE_SIZE, STEP = 16 /* blocks begin at multiples of it */ };

/* Of the bytes from `from` up to `to`, no more than a line: those of the field of a record at `record`. */
static uint64_t bytes_of_field(const struct nvm_field *field, uint64_t record, uint64_t from,
                               uint64_t to) {
  uint64_t start = record + field->offset, bytes = 0;
  for (uint64_t i = from > start ? (from - start) / field->stride : 0; i < field->count; i++) {
    uint64_t at = start + i * field->stride;
    if (at >= to)
      break;
    if (at >= from)
      bytes |= UINT64_C(1) << (at - from);
  }
  return bytes;
}

static uint64_t bytes_of_record(const struct nvm_type *type, uint64_t record, uint64_t from,
                                uint64_t to) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < type->field_count; i++)
    if (type->fields[i].kind == NVM_FIELD_VOLATILE)
      bytes |= bytes_of_field(&type->fields[i], record, from, to);
  return bytes;
}

/* The same of a block of this type: an array of records, or one that ends in an array of others. */
static uint64_t bytes_of_block(const struct nvm_pool *pool, const struct nvm_type *type,
                               uint64_t from, uint64_t to) {
  const struct nvm_field *tail = nvmi_type_tail(type);
  uint64_t bytes = 0;
  if (!tail) {
    for (uint64_t record = from - from % type->size; record < to; record += type->size)
      bytes |= bytes_of_record(type, record, from, to);
    return bytes;
  }
  const struct nvm_type *element = nvmi_type_by_id(pool, tail->target);
  uint64_t first = from > tail->offset ? from : tail->offset;
  if (from < tail->offset)
    bytes = bytes_of_record(type, 0, from, to < tail->offset ? to : tail->offset);
  if (element && element != type && element->size && !nvmi_type_tail(element) && first < to)
    bytes |= bytes_of_block(pool, element, first - tail->offset, to - tail->offset)
             << (first - from);
  return bytes;
}

uint64_t nvmi_unnoted_in_line(struct nvm_pool *pool, uint64_t offset) {
  uint64_t bytes = 0;
  if (!pool->heap->built)
    return 0;
  for (uint64_t at = offset, next; at < offset + LINE; at = next) {
    uint64_t inside;
    uint32_t index;
    const struct nvmi_span *span = nvmi_block_at(pool, at, &index, &inside);
    next = span ? at - inside + nvmi_block_size(span) : at - at % STEP + STEP;
    next = next < offset + LINE ? next : offset + LINE;
    unsigned type = span ? __atomic_load_n(&span->words[index], __ATOMIC_RELAXED) - 1u
                         : UINT32_MAX; /* of no type: the highest */
    if (type < pool->type_count && nvmi_judged_words(pool, type) >> NVMI_JUDGED_VOLATILE_BIT & 1)
      bytes |= bytes_of_block(pool, nvmi_type_layout(pool, type), inside, inside + next - at)
               << (at - offset);
  }
  return bytes;
}

/* Other threads may store to them. */
__attribute__((no_sanitize("thread"))) static void keep(struct nvmi_captured *kept) {
  const volatile char *work = (const volatile char *)(kept->line * LINE);
  for (uint64_t left = kept->mask; left; left &= left - 1) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    kept->bytes[i] = work[i];
  }
}

void nvmi_cover(struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  struct nvm_pool *pool = log->pool;
  if (pool->method->entries || nvmi_heap_ready(pool))
    return;
  for (uint64_t line = start / LINE; line <= (end - 1) / LINE; line++) {
    struct nvmi_captured kept = {.line = line,
                                 .mask =
                                     nvmi_unnoted_in_line(pool, line * LINE - pool->header.base) &
                                     nvmi_line_mask(line, start, end)};
    if (!kept.mask)
      continue;
    kept.sequence = nvmi_capture_number();
    keep(&kept);
    if (!nvmi_array_push(&log->covered, &kept, sizeof kept))
      nvmi_fatal(NVM_ENOMEMORY, pool->path, "out of memory for what an abort gives back");
  }
}
