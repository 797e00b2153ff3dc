/* own_image.c: see own_image.h. */
#include "judge/own_image.h"

#include "base/sort.h"
#include "core/alias.h"
#include "judge/judge.h"

#include <stdlib.h>
#include <string.h>

static int by_line_and_sequence(const void *a, const void *b) {
  const struct nvmi_captured *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* One of each line: what was stored last of each byte. */
static void merge(struct nvmi_array *image) {
  struct nvmi_captured *all = image->items;
  size_t kept = 0;
  if (!image->count)
    return;
  nvmi_sort(all, image->count, sizeof *all, by_line_and_sequence);
  for (size_t i = 1; i < image->count; i++) {
    if (all[i].line != all[kept].line) {
      all[++kept] = all[i];
      continue;
    }
    for (uint64_t left = all[i].mask; left; left &= left - 1)
      all[kept].bytes[__builtin_ctzll(left)] = all[i].bytes[__builtin_ctzll(left)];
    all[kept].mask |= all[i].mask;
  }
  image->count = kept + 1;
}

/* The number of the first that is not before the line. */
static size_t find(const struct nvmi_array *image, uint64_t line) {
  const struct nvmi_captured *all = image->items;
  size_t low = 0, high = image->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (all[middle].line < line)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Of a range the view has the bytes: nobody else has seen them. */
static void take_range(struct nvmi_array *image, const struct nvmi_line *range) {
  struct nvmi_captured *all = image->items;
  size_t low = find(image, nvmi_line_first(range));
  for (; low < image->count && all[low].line - nvmi_line_first(range) < nvmi_line_count(range);
       low++) {
    memcpy(all[low].bytes, (const void *)(all[low].line << 6), sizeof all[low].bytes);
    all[low].mask = UINT64_MAX;
  }
}

/* Aliases are newer than what is in place. */
static void take_aliases(struct nvmi_array *image, const struct nvmi_log *log) {
  for (size_t i = 0; i < log->alias.count; i++) {
    const struct nvmi_captured *alias = nvmi_alias_at(log, i);
    uintptr_t first = alias->line * NVM_LINE_SIZE;
    struct nvmi_captured *copy = (struct nvmi_captured *)image->items + find(image, alias->line);
    nvmi_captured_read(alias, copy->bytes, first, first + NVM_LINE_SIZE);
  }
}

/* With shadow: what was captured, then what was stored since, in the file's bytes. */
static bool captured_image(const struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                           struct nvmi_array *image) {
  const struct nvm_pool *pool = log->pool;
  if (!nvmi_array_reserve(image, log->captured.count + count, sizeof(struct nvmi_captured)))
    return false;
  struct nvmi_captured *items = image->items;
  if (log->captured.count)
    memcpy(items, log->captured.items, log->captured.count * sizeof *items);
  image->count = log->captured.count;
  for (size_t i = 0; i < count; i++) {
    if (lines[i].line & NVMI_RANGE)
      continue;
    struct nvmi_captured *own = &items[image->count++];
    *own = (struct nvmi_captured){
        .line = lines[i].line, .mask = lines[i].mask, .sequence = UINT64_MAX};
    memcpy(own->bytes, (const void *)(own->line << 6), sizeof own->bytes);
  }
  merge(image);
  for (size_t i = 0; i < count; i++)
    if (lines[i].line & NVMI_RANGE)
      take_range(image, &lines[i]);
  take_aliases(image, log);
  for (size_t i = 0; i < image->count; i++)
    for (uint64_t left = ~items[i].mask; left; left &= left - 1) {
      unsigned byte = (unsigned)__builtin_ctzll(left);
      items[i].bytes[byte] = pool->home[(items[i].line << 6) - pool->header.base + byte];
    }
  return true;
}

/* Lines of records that the transaction stored to, without a byte that it stored. */
struct context {
  const struct nvm_pool *pool;
  struct nvmi_judge judge;
  uint64_t newest;         /* record whose lines are there; 0: none */
  struct nvmi_array lines; /* struct nvmi_line */
  bool incomplete;
};

static enum nvm_error add_record(void *context, const struct nvm_type *type, uint64_t record) {
  struct context *more = context;
  uint64_t room = more->judge.end - record, size = type->size < room ? type->size : room;
  uint64_t from = (more->pool->header.base + record) / NVM_LINE_SIZE,
           to = (more->pool->header.base + record + size - 1) / NVM_LINE_SIZE;
  if (more->newest == record) /* as for each of its lines that was written */
    return NVM_OK;
  more->newest = record;
  for (uint64_t line = from; line <= to; line++)
    more->incomplete |=
        !nvmi_array_push(&more->lines, &(struct nvmi_line){line, 0}, sizeof(struct nvmi_line));
  return NVM_OK;
}

/* The lines, and those of the records that they and what was captured reach into. False: out of
 * memory. */
static bool list_lines(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                       struct context *context) {
  uint64_t first = log->pool->header.base >> 6;
  for (size_t i = 0; i < count; i++) {
    context->incomplete |= !nvmi_array_push(&context->lines, &lines[i], sizeof lines[i]);
    bool range = lines[i].line & NVMI_RANGE;
    for (uint64_t n = 0; n < nvmi_line_count(&lines[i]) && log->pool->judges_records; n++)
      nvmi_judge_blocks(&context->judge, (nvmi_line_first(&lines[i]) - first + n) << 6,
                        range ? UINT64_MAX : lines[i].mask, add_record, context);
  }
  const struct nvmi_captured *captured = log->captured.items;
  for (size_t i = 0; i < log->captured.count && log->pool->judges_records; i++)
    nvmi_judge_blocks(&context->judge, (captured[i].line - first) << 6, captured[i].mask,
                      add_record, context);
  return !context->incomplete;
}

bool nvmi_own_image(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                    struct nvmi_array *image) {
  struct nvmi_array *kept = &nvmi_thread_self()->image_lines;
  struct context all = {.pool = log->pool, .judge = {.pool = log->pool, .log = log}};
  bool borrowed = nvmi_array_borrow(kept, &all.lines);
  bool made = list_lines(log, lines, count, &all);
  if (made && log->pool->method->own_bytes)
    log->pool->method->own_bytes(log, all.lines.items, all.lines.count, image);
  else if (made)
    made = captured_image(log, all.lines.items, all.lines.count, image);
  nvmi_array_return(kept, &all.lines, sizeof(struct nvmi_line), borrowed);
  return made;
}

static int by_line(const void *a, const void *b) {
  uint64_t x = ((const struct nvmi_captured *)a)->line, y = ((const struct nvmi_captured *)b)->line;
  return x < y ? -1 : x > y;
}

__attribute__((no_sanitize("thread"))) void nvmi_own_image_read(const void *context, uint64_t at,
                                                                void *to, size_t size) {
  const struct nvmi_judge *judge = context;
  const struct nvm_pool *pool = judge->pool;
  memcpy(to, pool->work + at, size);
  for (size_t done = 0; done < size;) {
    uint64_t address = pool->header.base + at + done, inside = address % NVM_LINE_SIZE;
    size_t part = NVM_LINE_SIZE - inside < size - done ? NVM_LINE_SIZE - inside : size - done;
    struct nvmi_captured key = {.line = address / NVM_LINE_SIZE};
    const struct nvmi_captured *line =
        judge->image->count
            ? bsearch(&key, judge->image->items, judge->image->count, sizeof key, by_line)
            : NULL;
    if (line)
      memcpy((char *)to + done, line->bytes + inside, part);
    done += part;
  }
}
