/* trace_view.c: the program's memory as the trace knows it, held against what it is.
 *
 * A byte that differs was stored by code that told nobody. Where a thread has noted it, that was a
 * described function, which may be at work still, and the store is written down as that thread's,
 * without a place; elsewhere the store is reported as unseen. So the trace does not share the
 * compiler's blind spots. Of two that noted a byte, as a lock was released in an open transaction,
 * it is the later one's: who stores again notes again before a described function.
 */
#define _GNU_SOURCE
#include "trace/trace_view.h"
#include "base/holes.h"
#include "core/alias.h"
#include "core/regions.h"
#include "types/judged.h"

#include "trace/trace_file.h"
#include "trace/trace_state.h"

#include "heap/heap_types.h"
#include "types/types.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
  PAGE = NVMI_TRACE_PAGE,
  TURN = 1 << 13,       /* bytes of the heap that a commit looks at beside its own */
  MEMBERS_MAX = 1 << 14 /* bytes of a type's description; what is longer has no name */
};

static void set_bits(uint64_t *bits, uint64_t from, uint64_t size, bool on) {
  for (uint64_t at = from, end = from + size; at < end;) {
    uint64_t first = at & 63, count = end - at < 64 - first ? end - at : 64 - first;
    uint64_t mask = (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
    bits[at >> 6] = on ? bits[at >> 6] | mask : bits[at >> 6] & ~mask;
    at += count;
  }
}

static void take_from(struct nvmi_tracer *other, uint64_t place, uint64_t size) {
  for (uint64_t word = place >> 6; word <= (place + size - 1) >> 6; word++) {
    uint64_t mask = UINT64_MAX;
    if (word == place >> 6)
      mask <<= place & 63;
    if (word == (place + size - 1) >> 6)
      mask &= UINT64_MAX >> (63 - ((place + size - 1) & 63));
    if (other->noted[word] & mask)
      other->taken[word] |= other->noted[word] & mask;
  }
}

void nvmi_view_note(struct nvmi_tracer *self, uint64_t place, uint64_t size) {
  for (struct nvmi_tracer *each = nvmi_trace_state.tracers; each; each = each->next)
    if (each != self && each->noted_count && size)
      take_from(each, place, size);
  if (self->noted_count < NVMI_NOTED_MAX) {
    self->noted_ranges[self->noted_count].place = place;
    self->noted_ranges[self->noted_count].size = size;
  }
  self->noted_count++;
  set_bits(self->noted, place, size, true);
  set_bits(self->taken, place, size, false);
}

void nvmi_view_forget_notes(struct nvmi_tracer *self) {
  uint64_t *const bits[] = {self->noted, self->taken};
  for (unsigned map = 0; map < 2; map++)
    if (self->noted_count > NVMI_NOTED_MAX)
      madvise(bits[map], nvmi_trace_state.pool->header.range / 8, MADV_DONTNEED);
    else
      for (unsigned i = 0; i < self->noted_count; i++)
        set_bits(bits[map], self->noted_ranges[i].place, self->noted_ranges[i].size, false);
  self->noted_count = 0;
}

void nvmi_view_take(void) {
  const struct nvm_pool *pool = nvmi_trace_state.pool;
  const char *work = pool->work;
  char *view = nvmi_trace_state.view;
  uint64_t end = pool->header.heap_offset + pool->header.heap_size;
  memcpy(view + NVM_ROOT_OFFSET, work + NVM_ROOT_OFFSET, sizeof(struct nvm_root_words));
  for (uint64_t from = pool->header.heap_offset, to; nvmi_next_data(pool->fd, &from, &to, end);
       from = to)
    for (uint64_t at = from & ~(uint64_t)(PAGE - 1); at < to; at += PAGE)
      if (memcmp(view + at, work + at, PAGE) != 0)
        memcpy(view + at, work + at, PAGE);
}

/* What lies at a place: data that somebody's store would be missed of; a field that nobody misses;
 * or the table of a span, whose changes in the file show in a private view until a store parts the
 * page. */
enum what { DATA, VOLATILE, TABLE };

static enum what what_is(uint64_t place) {
  struct nvm_pool *pool = (struct nvm_pool *)nvmi_trace_state.pool;
  uint64_t inside;
  uint32_t index;
  if (place < pool->header.heap_offset || !pool->heap->built)
    return DATA;
  const struct nvmi_span *span = nvmi_block_at(pool, place, &index, &inside);
  const struct nvm_type *type = span ? nvmi_type_layout(pool, span->words[index] - 1u) : NULL;
  return !span ? TABLE : type && nvmi_type_volatile_at(pool, type, inside) ? VOLATILE : DATA;
}

bool nvmi_view_says_where(uint64_t place) {
  struct nvm_pool *pool = (struct nvm_pool *)nvmi_trace_state.pool;
  uint64_t inside = 0;
  uint32_t index;
  const struct nvmi_span *span =
      pool->heap->built ? nvmi_block_at(pool, place, &index, &inside) : NULL;
  if (!span)
    return true;
  const struct nvm_type *type = nvmi_type_layout(pool, span->words[index] - 1u);
  const struct nvm_field *field =
      type ? nvmi_pointer_field(pool, type, pool->work + place - inside, inside) : NULL;
  return type && (!field || field->kind != NVM_FIELD_UNION);
}

static bool has_volatile_field(const struct nvm_type *type) {
  for (uint32_t i = 0; type && i < type->field_count; i++)
    if (type->fields[i].kind == NVM_FIELD_VOLATILE ||
        type->fields[i].kind == NVM_FIELD_FLEXIBLE_ARRAY)
      return true; /* of an array perhaps */
  return false;
}

/* A record that is stored as a whole may have volatile fields in it. */
void nvmi_view_put_store(const struct nvmi_tracer *self, const struct nvmi_told *told,
                         uint64_t extra) {
  struct nvm_pool *pool = (struct nvm_pool *)nvmi_trace_state.pool;
  uint64_t inside;
  uint32_t index;
  const struct nvmi_span *span =
      pool->heap->built ? nvmi_block_at(pool, told->place, &index, &inside) : NULL;
  const struct nvm_type *type = span ? nvmi_type_layout(pool, span->words[index] - 1u) : NULL;
  if (!has_volatile_field(type)) {
    nvmi_trace_put_pieces(self->number, told->kind, told->place, extra, told->payload, told->size);
    return;
  }
  for (size_t at = 0, end; at < told->size; at = end) {
    bool is_volatile = nvmi_type_volatile_at(pool, type, inside + at);
    for (end = at + 1; end < told->size; end++)
      if (nvmi_type_volatile_at(pool, type, inside + end) != is_volatile)
        break;
    nvmi_trace_put_pieces(self->number, is_volatile ? NVM_TRACE_VOLATILE : told->kind,
                          told->place + at, extra, told->payload + at, end - at);
  }
}

void nvmi_view_put_unsafe(const struct nvmi_tracer *self, const struct nvmi_told *told) {
  static struct {
    uint64_t inside, block_size, type_size;
    char text[MEMBERS_MAX];
  } payload; /* under the lock */
  struct nvm_pool *pool = (struct nvm_pool *)nvmi_trace_state.pool;
  size_t size = 0;
  uint32_t index;
  const struct nvmi_span *span =
      pool->heap->built ? nvmi_block_at(pool, told->place, &index, &payload.inside) : NULL;
  const struct nvm_type *type = span ? nvmi_type_layout(pool, span->words[index] - 1u) : NULL;
  if (type) {
    payload.block_size = nvmi_block_size(span);
    payload.type_size = type->size;
    int length =
        snprintf(payload.text, sizeof payload.text, "%s%c%s", type->name, 0, type->members);
    size_t most = sizeof payload.text - 1;
    size = offsetof(__typeof__(payload), text) + ((size_t)length < most ? (size_t)length : most);
  }
  nvmi_trace_put(self->number, told->kind, told->place, told->extra, &payload, size);
}

static bool has_noted(const struct nvmi_tracer *tracer, uint64_t place) {
  return tracer->noted[place >> 6] >> (place & 63) & 1;
}

static bool has_noted_last(const struct nvmi_tracer *tracer, uint64_t place) {
  return has_noted(tracer, place) && !(tracer->taken[place >> 6] >> (place & 63) & 1);
}

/* Who noted the byte last; null: nobody that is known. */
static const struct nvmi_tracer *noter_of(const struct nvmi_tracer *self, uint64_t place) {
  if (has_noted_last(self, place))
    return self;
  for (const struct nvmi_tracer *each = nvmi_trace_state.tracers; each; each = each->next)
    if (each->used && has_noted_last(each, place))
      return each;
  return NULL;
}

/* Somebody's signal handler may have noted it: that waits to be taken. */
static bool some_wait(void) {
  for (const struct nvmi_tracer *each = nvmi_trace_state.tracers; each; each = each->next)
    if (each->used && each->late_count)
      return true;
  return false;
}

/* Memory is not what the program sees while a thread has values in an alias table, or has handed some over. */
static bool has_aliases(void) { return nvmi_trace_state.pool->method->store; }

static const struct nvmi_log *own_log(void) {
  return nvmi_self ? nvmi_self->logs[nvmi_trace_state.pool->index] : NULL;
}

/* With aliases only what the thread itself has noted is compared: the others' values may be elsewhere. Of its own,
 * those that are in place: what it has aliased is not, nor what it has handed over, but in private regions. */
static bool is_in_place(const struct nvmi_tracer *self, uint64_t place) {
  const struct nvmi_log *log = own_log();
  uint64_t line = (uintptr_t)(nvmi_trace_state.pool->work + place) / NVM_LINE_SIZE;
  uint64_t bit = UINT64_C(1) << place % NVM_LINE_SIZE;
  if (!has_noted_last(self, place) || !log)
    return false;
  const struct nvmi_captured *alias = nvmi_alias_find(log, line);
  if (alias && alias->mask & bit)
    return false;
  const struct nvmi_captured *captured = log->captured.items;
  if (nvmi_region_is_private(nvmi_trace_state.pool, place))
    return true;
  for (size_t i = 0; i < log->captured.count; i++)
    if (captured[i].line == line && captured[i].mask & bit)
      return false;
  return true;
}

static bool differs(const struct nvmi_tracer *self, uint64_t byte) {
  return nvmi_trace_state.pool->work[byte] != nvmi_trace_state.view[byte] &&
         (!has_aliases() || is_in_place(self, byte));
}

static void compare_word(const struct nvmi_tracer *self, uint64_t at, uint64_t site) {
  const char *work = nvmi_trace_state.pool->work;
  char *view = nvmi_trace_state.view;
  for (uint64_t byte = at, end; byte < at + 8; byte = end) {
    end = byte + 1;
    if (!differs(self, byte))
      continue;
    const struct nvmi_tracer *noter = noter_of(self, byte);
    if (!noter && some_wait())
      continue;
    while (end < at + 8 && differs(self, end) && noter_of(self, end) == noter)
      end++;
    memcpy(view + byte, work + byte, end - byte);
    enum what what = what_is(byte);
    if (what != TABLE)
      nvmi_trace_put(noter ? noter->number : self->number,
                     what == VOLATILE ? NVM_TRACE_VOLATILE
                     : noter          ? NVM_TRACE_STORE
                                      : NVM_TRACE_UNSEEN,
                     byte, noter == self || !noter ? site : 0, view + byte, end - byte);
  }
}

void nvmi_view_compare(const struct nvmi_tracer *self, uint64_t from, uint64_t size,
                       uint64_t site) {
  const char *work = nvmi_trace_state.pool->work, *view = nvmi_trace_state.view;
  for (uint64_t page = from; page < from + size; page += PAGE) {
    uint64_t length = from + size - page < PAGE ? from + size - page : PAGE;
    if (memcmp(work + page, view + page, length) == 0)
      continue;
    for (uint64_t at = page; at < page + length; at += 8)
      if (memcmp(work + at, view + at, 8) != 0)
        compare_word(self, at, site);
  }
}

void nvmi_view_put_written(const struct nvmi_tracer *self, const struct nvmi_told *told,
                           uint64_t site) {
  bool is_volatile = what_is(told->place) == VOLATILE;
  nvmi_trace_put_pieces(self->number, is_volatile ? NVM_TRACE_VOLATILE : told->kind, told->place,
                        site, told->payload, told->size);
  memcpy(nvmi_trace_state.view + told->place, nvmi_trace_state.pool->work + told->place,
         told->size);
}

void nvmi_view_compare_around(const struct nvmi_tracer *self, uint64_t place, uint64_t size,
                              uint64_t site) {
  const struct nvm_header *header = &nvmi_trace_state.pool->header;
  if (place / sizeof(struct nvm_root_words) == NVM_ROOT_OFFSET / sizeof(struct nvm_root_words))
    nvmi_view_compare(self, NVM_ROOT_OFFSET, sizeof(struct nvm_root_words), site);
  else if (place >= header->heap_offset && place < header->heap_offset + header->heap_size)
    nvmi_view_compare(self, place & ~(size - 1), size, site);
}

/* Goes on in the runs of blocks from where it was left, for at most `most` bytes, once around. Runs
 * may have merged meanwhile; what is no block matters to nobody. */
static void compare_runs(const struct nvmi_tracer *self, uint64_t most, uint64_t site) {
  const struct nvm_pool *pool = nvmi_trace_state.pool;
  const struct nvm_header *header = &pool->header;
  const uint64_t *chunks = (const void *)(pool->home + NVM_CHUNKS_OFFSET);
  uint64_t count = header->heap_size >> NVM_CHUNK_SHIFT;
  uint64_t chunk = nvmi_trace_state.compared_run, inside = nvmi_trace_state.compared_inside;
  for (uint64_t seen = 0; seen <= count && most;) {
    if (chunk >= count)
      chunk = inside = 0;
    uint64_t length = chunks[chunk] >> 32 ? chunks[chunk] >> 32 : 1;
    uint64_t size = (length < count - chunk ? length : count - chunk) << NVM_CHUNK_SHIFT;
    unsigned kind = chunks[chunk] & 0xff;
    bool has_blocks = (kind == NVM_CHUNK_SMALL || kind == NVM_CHUNK_LARGE) && inside < size;
    uint64_t now = !has_blocks ? 0 : size - inside < most ? size - inside : most;
    if (now)
      nvmi_view_compare(self, header->heap_offset + (chunk << NVM_CHUNK_SHIFT) + inside, now, site);
    most -= now;
    inside += now;
    if (has_blocks && inside < size)
      break;
    seen += size >> NVM_CHUNK_SHIFT;
    chunk += size >> NVM_CHUNK_SHIFT;
    inside = 0;
  }
  nvmi_trace_state.compared_run = chunk;
  nvmi_trace_state.compared_inside = inside;
}

static void compare_noted(const struct nvmi_tracer *self) {
  for (unsigned i = 0; i < self->noted_count && i < NVMI_NOTED_MAX; i++) {
    uint64_t from = self->noted_ranges[i].place & ~UINT64_C(7);
    uint64_t end = (self->noted_ranges[i].place + self->noted_ranges[i].size + 7) & ~UINT64_C(7);
    nvmi_view_compare(self, from, end - from, 0);
  }
}

void nvmi_view_compare_heap(const struct nvmi_tracer *self, bool whole, uint64_t site) {
  if (has_aliases()) {
    compare_noted(self);
    return;
  }
  nvmi_view_compare(self, NVM_ROOT_OFFSET, sizeof(struct nvm_root_words), site);
  compare_noted(self);
  /* The list of what was noted may not be whole. */
  compare_runs(self, whole || self->noted_count > NVMI_NOTED_MAX ? UINT64_MAX : TURN, site);
}
