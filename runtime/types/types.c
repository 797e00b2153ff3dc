/* types.c: the table of types in the pool.
 *
 * The record of a type (type_record.c) lies in a run of chunks of kind TYPES, its entry in the
 * table. Both are fenced before any block names the type, in whichever order they arrive: the
 * entry's checksum covers its record, and one that fails is free, what it spoke of is written over.
 * Layouts come from what the program describes (described.h); without, the pool knows the id alone,
 * until a library is loaded that does.
 */
#include "types/types.h"
#include "heap/heap_spans.h"
#include "types/judged.h"
#include "types/type_match.h"

#include "base/checksum.h"
#include "base/settings.h"
#include "core/follower.h"
#include "format/type_record.h"
#include "heap/heap_types.h"
#include "types/described.h"

#include <stdlib.h>
#include <string.h>

const struct nvm_type *nvmi_type_layout(const struct nvm_pool *pool, uint64_t index) {
  const struct nvm_type *type = index && index < pool->type_count ? pool->types[index] : NULL;
  return type && type->size ? type : NULL;
}

const struct nvm_type *nvmi_type_by_id(const struct nvm_pool *pool, uint64_t id) {
  const struct nvm_type *type = id ? nvmi_described(id) : NULL;
  for (unsigned index = 1; id && !type && index < pool->type_count; index++)
    if (pool->type_ids[index] == id)
      type = nvmi_type_layout(pool, index);
  return type;
}

bool nvmi_type_volatile_at(const struct nvm_pool *pool, const struct nvm_type *type,
                           uint64_t offset) {
  const struct nvm_field *array = nvmi_type_tail(type);
  if (array && offset >= array->offset) {
    const struct nvm_type *element = nvmi_type_by_id(pool, array->target);
    return element && element != type && element->size &&
           nvmi_type_volatile_at(pool, element, offset - array->offset);
  }
  if (!array && type->size)
    offset %= type->size; /* a block may hold an array of its type */
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    uint64_t from = offset - field->offset;
    if (field->kind == NVM_FIELD_VOLATILE && offset >= field->offset && from % field->stride == 0 &&
        from / field->stride < field->count)
      return true;
  }
  return false;
}

static struct nvm_type_entry *entry_at(const struct nvm_pool *pool, unsigned index) {
  return (struct nvm_type_entry *)(pool->home + NVM_TYPES_OFFSET) + index;
}

uint64_t nvmi_type_entry_check(const struct nvm_pool *pool, const struct nvm_type_entry *entry,
                               const void *record) {
  uint64_t words[] = {entry->id, entry->record, entry->size,
                      nvmi_check(record, entry->size, pool->id_seed)};
  return nvmi_check(words, sizeof words, pool->id_seed);
}

const char *nvmi_type_record_of(const struct nvm_pool *pool, const struct nvm_type_entry *entry) {
  const struct nvm_header *h = &pool->header;
  uint64_t end = h->heap_offset + h->heap_size;
  if (!entry->id || entry->record % NVM_LINE_SIZE || entry->record < h->heap_offset ||
      entry->record >= end || entry->size > end - entry->record || entry->size % NVM_LINE_SIZE)
    return NULL;
  const char *record = pool->home + entry->record;
  return entry->check == nvmi_type_entry_check(pool, entry, record) ? record : NULL;
}

static unsigned records_in(const struct nvm_pool *pool, uint64_t offset, uint64_t size,
                           bool whole) {
  unsigned count = 0;
  for (unsigned index = 1; index < pool->type_count; index++) {
    const struct nvm_type_entry *entry = entry_at(pool, index);
    uint64_t inside = entry->record - offset;
    count += inside < size && (!whole || entry->size <= size - inside);
  }
  return count;
}

static unsigned records(const struct nvm_pool *pool) {
  return pool->type_count ? pool->type_count - 1 : 0;
}

/* As many as the record needs that the run was taken for; others lie behind it in the last. */
static uint64_t chunks_of_run(const struct nvm_pool *pool, uint64_t offset) {
  for (unsigned index = 1; index < pool->type_count; index++)
    if (entry_at(pool, index)->record == offset)
      return (entry_at(pool, index)->size + NVM_CHUNK_SIZE - 1) >> NVM_CHUNK_SHIFT;
  return 0;
}

static bool begins(const struct nvm_pool *pool, uint64_t offset) {
  return nvmi_type_record_size(pool->home + offset, NVM_CHUNK_SIZE);
}

const struct nvmi_run_owner nvmi_types_owner = {
    .kind = NVM_CHUNK_TYPES,
    .chunks_at = chunks_of_run,
    .parts_in = records_in,
    .parts = records,
    .begins = begins,
    .lack = "the layout of a type lies in no run of kind TYPES"};

/* Whether a block of the type is there: the table's word of a block is one more than the type. */
static bool is_in_run(const struct nvm_pool *pool, uint64_t word, uint32_t chunk, unsigned index) {
  if ((word & 0xff) == NVM_CHUNK_LARGE)
    return (word >> 16 & 0xffff) == index;
  unsigned class = word >> 8 & 0xff;
  if ((word & 0xff) != NVM_CHUNK_SMALL || class >= NVMI_CLASSES)
    return false;
  struct nvmi_span shape;
  nvmi_span_shape(&shape, class);
  if (shape.first > word >> 32 << NVM_CHUNK_SHIFT) /* the word is damaged */
    return false;
  const uint16_t *table = (const void *)(pool->home + nvmi_chunk_offset(pool, chunk));
  for (uint32_t i = 0; i < shape.blocks; i++)
    if (table[i] == index + 1)
      return true;
  return false;
}

/* In the file's tables alone: while a pool is opened, or checked, there is no heap. */
bool nvmi_type_is_used(const struct nvm_pool *pool, unsigned index) {
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    count = word ? (uint32_t)(word >> 32) : 1;
    if (!count || count > chunks - chunk) /* found when the heap is built */
      return false;
    if (is_in_run(pool, word, chunk, index))
      return true;
  }
  return false;
}

unsigned nvmi_types_damaged(const struct nvm_pool *pool) {
  unsigned damaged = 0, last = pool->type_count;
  for (unsigned index = last; index < NVM_TYPES_MAX; index++)
    if (entry_at(pool, index)->id) {
      damaged++;
      last = index;
    }
  /* The one that a crash tore is the last, and alone, and no block names it: one that does was made
   * after the entry's fence. */
  bool is_torn = damaged == 1 && last == pool->type_count && !nvmi_type_is_used(pool, last);
  return is_torn ? 0 : damaged;
}

/* A type that only the pool knows, though the program has one of that name: its code would read
 * the pool's blocks wrongly. Where no block is left of the old layout nothing is wrong. */
static int compare(struct nvm_pool *pool, unsigned index) {
  const struct nvm_type *pools = pool->types[index];
  const struct nvm_type *programs = nvmi_described_as(pools->name);
  if (!programs || !*pools->name || strchr(pools->name, '('))
    return 0;
  if (!nvmi_type_is_used(pool, index))
    return 0;
  char difference[256];
  nvmi_type_difference(pools, programs, difference, sizeof difference);
  return nvmi_fail(NVM_ELAYOUT, pool->path,
                   "the program's %s is not the pool's: %s; convert it ('nvmove "
                   "pool convert'), or open it with the program that wrote it",
                   pools->name, difference);
}

/* Whether records are judged is asked of the types that the pool has: a program describes all of
 * its own, and records are dear where locks are released inside transactions (own_image.h). */
static void take_layout(struct nvm_pool *pool, unsigned index, const struct nvm_type *type) {
  if (type && type->size && nvmi_judged_by_record(type))
    pool->judges_records = true;
  pool->types[index] = type;
}

/* Layouts of types that have none here, and are described by now. */
static void learn(struct nvm_pool *pool) {
  for (unsigned index = 1; index < pool->type_count; index++)
    if (!nvmi_type_layout(pool, index)) {
      const struct nvm_type *type = nvmi_described(pool->type_ids[index]);
      if (type)
        take_layout(pool, index, type);
    }
}

void nvmi_pointers_choose(struct nvm_pool *pool) {
  pool->check_pointers = nvmi_types_described() && !nvmi_setting_is("NVMOVE_POINTERS", "0");
  pool->has_volatile = nvmi_types_have_volatile();
}

/* What was made of the layouts of before is not asked for any more (pointers.c), or not believed
 * (follower.h). */
void nvmi_types_learn(struct nvm_pool *pool) {
  if (pool->forked) /* commits nothing, and has not the file */
    return;
  nvmi_lock(&pool->lock);
  pool->learned++;
  learn(pool);
  for (unsigned index = 0; index < NVM_TYPES_MAX; index++)
    pool->judged[index] = 0;
  if (pool->follower)
    pool->follower->types_changed(pool);
  nvmi_pointers_choose(pool);
  nvmi_unlock(&pool->lock);
}

int nvmi_types_load(struct nvm_pool *pool) {
  unsigned index = 1;
  for (; index < NVM_TYPES_MAX; index++) {
    const struct nvm_type_entry *entry = entry_at(pool, index);
    const char *record = nvmi_type_record_of(pool, entry);
    if (!record)
      break;
    const struct nvm_type *type = nvmi_described(entry->id);
    if (!type)
      type = nvmi_type_decode(&pool->type_memory, entry->id, record, entry->size);
    if (!type)
      return nvmi_fail(NVM_ECORRUPT, pool->path,
                       "the layout of type %u makes no sense, or memory ran out; " NVMI_REPAIR_HINT,
                       index);
    take_layout(pool, index, type);
    pool->type_ids[index] = entry->id;
    pool->type_count = index + 1;
  }
  pool->type_count = index;
  learn(pool); /* a library may have come meanwhile */
  unsigned damaged = nvmi_types_damaged(pool);
  if (damaged)
    return nvmi_fail(NVM_ECORRUPT, pool->path,
                     "the table of types is damaged from entry %u on (%u); " NVMI_REPAIR_HINT,
                     index, damaged);
  return 0;
}

int nvmi_types_match(struct nvm_pool *pool) {
  for (unsigned index = 1; index < pool->type_count; index++)
    if (!nvmi_described(pool->type_ids[index]) && compare(pool, index))
      return -1;
  return 0;
}

void nvmi_types_free(struct nvm_pool *pool) {
  nvmi_arena_free(&pool->type_memory);
  pool->type_count = 0;
}

/* Where the next record of `size` bytes goes: behind the last in its chunk, or in a run of its own.
 */
static uint64_t find_room(struct nvm_pool *pool, uint64_t size) {
  if (pool->type_count > 1) {
    const struct nvm_type_entry *last = entry_at(pool, pool->type_count - 1);
    uint64_t end = last->record + last->size;
    uint64_t left = -(end - pool->header.heap_offset) & (NVM_CHUNK_SIZE - 1);
    if (size <= left)
      return end;
  }
  struct nvmi_thread *thread = nvmi_thread_self();
  thread->in_heap++;
  uint64_t at = nvmi_heap_own_run(pool, NVM_CHUNK_TYPES, nvmi_chunks_for(size));
  thread->in_heap--;
  return at;
}

/* What the pool is told of a type is all that other programs have to read its blocks by. */
static bool can_be_read(uint64_t id, const struct nvmi_array *bytes) {
  struct nvmi_arena memory = {0};
  bool can = nvmi_type_decode(&memory, id, bytes->items, bytes->count);
  nvmi_arena_free(&memory);
  return can;
}

/* Crash before the fence: the entry is free, or whole; a run that no entry leads to is freed
 * by the next rebuild of the heap. */
static int enter(struct nvm_pool *pool, uint64_t id, const struct nvm_type *type) {
  unsigned index = pool->type_count ? pool->type_count : 1;
  if (index == NVM_TYPES_MAX)
    return nvmi_fail(NVM_ELIMIT, pool->path,
                     "the pool has %d types, which is the most; use another pool for others",
                     NVM_TYPES_MAX - 1);
  const struct nvm_type unknown = {.id = id, .name = "", .members = ""};
  struct nvmi_array bytes = {0};
  if (!nvmi_type_encode(type ? type : &unknown, &bytes)) {
    nvmi_array_free(&bytes, 1);
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the layout of a type");
  }
  if (!can_be_read(id, &bytes)) {
    nvmi_array_free(&bytes, 1);
    return nvmi_fail(NVM_ELAYOUT, pool->path,
                     "the layout of %s has words behind its end; build the program anew",
                     type ? type->name : "a type");
  }
  struct nvm_type_entry fresh = {.id = id, .size = bytes.count};
  fresh.record = find_room(pool, fresh.size);
  if (fresh.record) {
    fresh.check = nvmi_type_entry_check(pool, &fresh, bytes.items);
    pool->persist->stream(pool->home + fresh.record, bytes.items, fresh.size);
    *entry_at(pool, index) = fresh;
    pool->persist->flush(entry_at(pool, index), sizeof fresh);
    pool->persist->fence();
    pool->type_ids[index] = id;
    take_layout(pool, index, type);
    __atomic_store_n(&pool->type_count, index + 1, __ATOMIC_RELEASE);
  }
  nvmi_array_free(&bytes, 1);
  return fresh.record ? (int)index : -1;
}

static int look_up(const struct nvm_pool *pool, uint64_t id) {
  unsigned count = __atomic_load_n(&pool->type_count, __ATOMIC_ACQUIRE);
  for (unsigned index = 1; index < count; index++)
    if (pool->type_ids[index] == id)
      return (int)index;
  return 0;
}

/* With what it has to be read by: elements of flexible arrays come first. */
static int enter_all(struct nvm_pool *pool, uint64_t id) {
  int index = look_up(pool, id);
  if (index)
    return index;
  const struct nvm_type *type = nvmi_described(id);
  for (uint32_t i = 0; type && i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    if (field->kind == NVM_FIELD_FLEXIBLE_ARRAY && field->target && field->target != id &&
        enter_all(pool, field->target) < 0)
      return -1;
  }
  return enter(pool, id, type);
}

int nvmi_type_index(struct nvm_pool *pool, uint64_t id) {
  int index = look_up(pool, id);
  if (index)
    return index;
  nvmi_lock(&pool->lock);
  index = enter_all(pool, id);
  nvmi_unlock(&pool->lock);
  return index;
}

/* The layout is read back from the file: who described it may forget it. */
int nvmi_type_describe(struct nvm_pool *pool, const struct nvm_type *type) {
  nvmi_lock(&pool->lock);
  int index = look_up(pool, type->id);
  if (!index && (index = enter(pool, type->id, type)) > 0) {
    const struct nvm_type_entry *entry = entry_at(pool, (unsigned)index);
    pool->types[index] =
        nvmi_type_decode(&pool->type_memory, type->id, pool->home + entry->record, entry->size);
    if (!pool->types[index])
      index = nvmi_fail(NVM_EARGUMENT, pool->path,
                        "the layout of %s makes no sense, or memory ran out", type->name);
  }
  nvmi_unlock(&pool->lock);
  return index;
}

const char *nvmi_type_name(const struct nvm_pool *pool, uint64_t index) {
  const struct nvm_type *type = nvmi_type_layout(pool, index);
  return type && *type->name ? type->name : "untyped";
}

uint64_t __nvm_type_id(const char *name, const void *null) {
  (void)null;
  return (nvmi_check(name, strlen(name), 0) >> 1) | 1;
}
