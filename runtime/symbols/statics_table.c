/* statics_table.c: the table of static things that the pool points to (statics.h), in runs of
 * chunks of kind STATICS, one linked to the next.
 *
 * An entry is fenced before the commit of a pointer to it; a torn one fails its checksum and is
 * written over. Only its address changes later, by one store.
 */
#include "symbols/modules.h"
#include "symbols/statics.h"

#include "base/checksum.h"
#include "core/thread.h"
#include "heap/heap.h"
#include "symbols/symbols.h"
#include "symbols/texts.h"

#include <string.h>
#include <sys/mman.h>

/* Addresses to entries: open addressing, never more than half full, replaced as a whole. */
struct index {
  size_t room; /* a power of two */
  struct {
    _Atomic uint64_t address;
    _Atomic uint32_t entry; /* (number + 1) << FLAGS | enum nvmi_static_flag; 0: free */
  } slot[];
};

enum { FLAGS = 3 };

struct known {
  struct nvm_static *entry;
  bool is_gone;                 /* something else may lie at its address now */
  uint8_t build[NVMI_BUILD_ID]; /* of the module that it lies in, in this process */
};

struct nvmi_statics {
  struct nvmi_array entries; /* struct known */
  struct index *_Atomic index;
  bool is_stale;               /* what is gone has changed since the index was made */
  struct nvmi_array old;       /* struct index *: somebody may still look at them */
  struct nvm_statics_run *run; /* the last */
  uint64_t used;               /* bytes of it */
  /* nvmi_modules_unloaded when the addresses were last looked at. */
  _Atomic uint64_t unloaded;
};

static size_t index_size(size_t room) {
  return sizeof(struct index) + room * sizeof(((struct index *)0)->slot[0]);
}

static size_t hash(uint64_t address) {
  return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

int nvmi_statics_look_up(const struct nvm_pool *pool, uint64_t address, unsigned *flags) {
  const struct index *index = atomic_load_explicit(&pool->statics->index, memory_order_acquire);
  for (size_t i = hash(address); index; i++) {
    uint32_t entry =
        atomic_load_explicit(&index->slot[i & (index->room - 1)].entry, memory_order_acquire);
    if (!entry)
      return -1;
    if (atomic_load_explicit(&index->slot[i & (index->room - 1)].address, memory_order_relaxed) ==
        address) {
      *flags = entry & ((1u << FLAGS) - 1);
      return (int)(entry >> FLAGS) - 1;
    }
  }
  return -1;
}

static struct known *known(const struct nvm_pool *pool, unsigned index) {
  return &((struct known *)pool->statics->entries.items)[index];
}

static unsigned flags_of(const struct known *known) {
  const struct nvm_static *entry = known->entry;
  return (entry->flags & NVM_STATIC_CONSTANT ? NVMI_STATIC_CONSTANT : 0) |
         (nvmi_is_of_program(entry->address) ? NVMI_STATIC_PROGRAM : 0) |
         (known->is_gone ? NVMI_STATIC_GONE : 0);
}

/* Two entries may have one address: a symbol was renamed and what it named stayed. The first that
 * is not gone will do. */
static void index_entry(struct index *index, const struct known *known, unsigned number) {
  uint64_t address = known->entry->address;
  size_t i = hash(address);
  if (!address) /* of something that this program lacks */
    return;
  while (atomic_load_explicit(&index->slot[i & (index->room - 1)].entry, memory_order_relaxed))
    i++;
  atomic_store_explicit(&index->slot[i & (index->room - 1)].address, address, memory_order_relaxed);
  atomic_store_explicit(&index->slot[i & (index->room - 1)].entry,
                        (number + 1) << FLAGS | flags_of(known), memory_order_release);
}

struct nvm_static *nvmi_statics_entry(const struct nvm_pool *pool, unsigned index) {
  return known(pool, index)->entry;
}

void nvmi_statics_set_gone(struct nvm_pool *pool, unsigned index, bool is_gone) {
  pool->statics->is_stale |= known(pool, index)->is_gone != is_gone;
  known(pool, index)->is_gone = is_gone;
}

void nvmi_statics_set_build(struct nvm_pool *pool, unsigned index) {
  struct known *of = known(pool, index);
  nvmi_build_at(of->entry->address, of->build);
}

const uint8_t *nvmi_statics_build(const struct nvm_pool *pool, unsigned index) {
  return known(pool, index)->build;
}

bool nvmi_statics_refresh(struct nvm_pool *pool) {
  return !pool->statics->is_stale || nvmi_statics_index(pool);
}

unsigned nvmi_statics_count(const struct nvm_pool *pool) {
  return (unsigned)pool->statics->entries.count;
}

bool nvmi_statics_index(struct nvm_pool *pool) {
  struct nvmi_statics *statics = pool->statics;
  struct index *before = atomic_load(&statics->index);
  size_t room = 64;
  while (room < 4 * statics->entries.count + 4)
    room *= 2;
  struct index *index = nvmi_dram_reserve(index_size(room));
  if (!index)
    return false;
  if (before && !nvmi_array_push(&statics->old, &before, sizeof before)) {
    munmap(index, index_size(room));
    return false;
  }
  index->room = room;
  for (int gone = 0; gone < 2; gone++)
    for (unsigned i = 0; i < statics->entries.count; i++)
      if (known(pool, i)->is_gone == gone)
        index_entry(index, known(pool, i), i);
  atomic_store_explicit(&statics->index, index, memory_order_release);
  statics->is_stale = false;
  return true;
}

/* The newest entry: into the table that readers have, while that is half empty. */
static bool index_newest(struct nvm_pool *pool) {
  unsigned newest = nvmi_statics_count(pool) - 1;
  struct index *index = atomic_load(&pool->statics->index);
  if (2 * (size_t)(newest + 1) > index->room)
    return nvmi_statics_index(pool);
  index_entry(index, known(pool, newest), newest);
  return true;
}

uint64_t nvmi_statics_unloaded(const struct nvm_pool *pool) {
  return atomic_load_explicit(&pool->statics->unloaded, memory_order_acquire);
}

void nvmi_statics_set_unloaded(struct nvm_pool *pool, uint64_t unloaded) {
  atomic_store_explicit(&pool->statics->unloaded, unloaded, memory_order_release);
}

static bool read_run(struct nvm_pool *pool, struct nvm_statics_run *run) {
  struct nvmi_statics *statics = pool->statics;
  uint64_t at = sizeof *run;
  for (struct known known = {0}; at < NVM_CHUNK_SIZE; at += known.entry->length) {
    known.entry = (void *)((char *)run + at);
    if (!nvmi_statics_is_whole(pool, known.entry, NVM_CHUNK_SIZE - at))
      break;
    if (!nvmi_array_push(&statics->entries, &known, sizeof known))
      return false;
  }
  statics->run = run;
  statics->used = at;
  return true;
}

int nvmi_statics_start(struct nvm_pool *pool) {
  void *memory =
      mmap(NULL, sizeof *pool->statics, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the table of static data");
  pool->statics = memory;
  nvmi_statics_set_unloaded(pool, nvmi_modules_unloaded());
  uint64_t left = pool->header.heap_size >> NVM_CHUNK_SHIFT;
  for (uint64_t at = *nvmi_statics_first_link(pool); at; at = pool->statics->run->next) {
    const struct nvm_statics_run *run = left-- ? nvmi_statics_run_at(pool, at) : NULL;
    if (!run)
      return nvmi_fail(NVM_ECORRUPT, pool->path,
                       "the table of static data is damaged at %#llx; " NVMI_REPAIR_HINT,
                       (unsigned long long)at);
    if (!read_run(pool, (struct nvm_statics_run *)run))
      return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the table of static data");
    if (run->used < sizeof *run || pool->statics->used < run->used)
      return nvmi_fail(NVM_ECORRUPT, pool->path,
                       "the table of static data has a damaged entry at %#llx; " NVMI_REPAIR_HINT,
                       (unsigned long long)(at + pool->statics->used));
  }
  if (!nvmi_statics_index(pool))
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the table of static data");
  for (unsigned i = 0; i < nvmi_statics_count(pool); i++)
    if (!nvmi_statics_has_address(pool, known(pool, i)->entry))
      return nvmi_fail(
          NVM_ECORRUPT, pool->path,
          "the table of static data: the address of entry %u is damaged; restore a copy", i);
  return nvmi_statics_miss_none(pool);
}

static void free_index(struct index *index) {
  if (index)
    munmap(index, index_size(index->room));
}

void nvmi_statics_stop(struct nvm_pool *pool) {
  struct nvmi_statics *statics = pool->statics;
  if (!statics)
    return;
  free_index(atomic_load(&statics->index));
  for (size_t i = 0; i < statics->old.count; i++)
    free_index(((struct index **)statics->old.items)[i]);
  nvmi_array_free(&statics->old, sizeof(void *));
  nvmi_array_free(&statics->entries, sizeof(struct known));
  munmap(statics, sizeof *statics);
  pool->statics = NULL;
}

void nvmi_statics_place(const struct nvm_static *entry, struct nvmi_place *place) {
  const char *texts = (const char *)entry;
  *place =
      (struct nvmi_place){.module = texts + entry->module,
                          .offset = entry->offset,
                          .name = texts + entry->name,
                          .file = texts + entry->file,
                          .within = entry->within,
                          .size = entry->symbol_size,
                          .aliases = entry->flags & NVM_STATIC_ALIASES ? texts + entry->text : NULL,
                          .text = entry->flags & NVM_STATIC_TEXT ? texts + entry->text : NULL,
                          .is_string = entry->flags & NVM_STATIC_STRING,
                          .is_constant = entry->flags & NVM_STATIC_CONSTANT,
                          .has_namesakes = entry->flags & NVM_STATIC_NAMESAKES,
                          .is_picked = entry->flags & NVM_STATIC_PICKED};
  memcpy(place->build_id, entry->build_id, sizeof place->build_id);
}

/* Crash before the link is durable: a run that nothing leads to, freed by the next rebuild. The run
 * is zero behind its header before it is linked, so nothing in it is taken for an entry. */
static bool add_run(struct nvm_pool *pool) {
  struct nvmi_statics *statics = pool->statics;
  nvmi_thread_self()->in_heap++;
  uint64_t at = nvmi_heap_own_run(pool, NVM_CHUNK_STATICS, 1);
  nvmi_thread_self()->in_heap--;
  if (!at)
    return false;
  struct nvm_statics_run *run = (void *)(pool->home + at);
  memset(run, 0, NVM_CHUNK_SIZE);
  run->self = at;
  run->used = sizeof *run;
  run->check = nvmi_statics_run_check(pool, run);
  pool->persist->flush(run, NVM_CHUNK_SIZE);
  pool->persist->fence();
  uint64_t *link = statics->run ? &statics->run->next : nvmi_statics_first_link(pool);
  *(volatile uint64_t *)link = at;
  pool->persist->flush(link, sizeof *link);
  pool->persist->fence(); /* before the first entry: statics_runs.c */
  statics->run = run;
  statics->used = sizeof *run;
  return true;
}

static uint32_t put_text(char *entry, size_t *length, const char *text) {
  size_t at = *length;
  *length = at + nvmi_text_copy(entry + at, text) + 1;
  return (uint32_t)at;
}

/* All of it; of what is no string the other names. Null: neither. */
static const char *text_of(const struct nvmi_place *place) {
  return place->is_string ? place->text - place->within
         : place->text    ? place->text
                          : place->aliases;
}

static struct nvm_static *make_entry(const struct nvm_pool *pool, const struct nvmi_place *place,
                                     uint64_t address, size_t length) {
  struct nvm_static *entry = nvmi_dram_reserve(length);
  if (!entry)
    return NULL;
  *entry = (struct nvm_static){.address = address,
                               .twin = nvmi_statics_twin(pool, address),
                               .offset = place->offset,
                               .within = place->within,
                               .symbol_size = place->size,
                               .length = (uint32_t)length,
                               .flags = (place->text ? NVM_STATIC_TEXT : 0) |
                                        (!place->text && place->aliases ? NVM_STATIC_ALIASES : 0) |
                                        (place->is_string ? NVM_STATIC_STRING : 0) |
                                        (place->is_constant ? NVM_STATIC_CONSTANT : 0) |
                                        (place->is_picked ? NVM_STATIC_PICKED : 0) |
                                        (place->has_namesakes ? NVM_STATIC_NAMESAKES : 0)};
  memcpy(entry->build_id, place->build_id, sizeof entry->build_id);
  const char *text = text_of(place);
  size_t end = sizeof *entry;
  entry->module = put_text((char *)entry, &end, place->module);
  entry->name = put_text((char *)entry, &end, place->name);
  entry->file = put_text((char *)entry, &end, place->file);
  entry->text = put_text((char *)entry, &end, text ? text : "");
  if (place->is_string)
    entry->text += (uint32_t)place->within;
  entry->check = nvmi_statics_entry_check(pool, entry);
  return entry;
}

int nvmi_statics_add(struct nvm_pool *pool, const struct nvmi_place *place, uint64_t address) {
  struct nvmi_statics *statics = pool->statics;
  size_t length = sizeof(struct nvm_static) + strlen(place->module) + strlen(place->name) +
                  strlen(place->file) + (text_of(place) ? nvmi_text_length(text_of(place)) : 0) + 4;
  length = (length + NVM_LINE_SIZE - 1) & ~(size_t)(NVM_LINE_SIZE - 1);
  if (length > NVM_CHUNK_SIZE - sizeof(struct nvm_statics_run))
    return nvmi_fail(NVM_ELIMIT, pool->path,
                     "a static name or text of more than 16 KiB; make it shorter");
  if ((!statics->run || statics->used + length > NVM_CHUNK_SIZE) && !add_run(pool))
    return -1;
  struct nvm_static *entry = make_entry(pool, place, address, length);
  if (!entry)
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the table of static data");
  struct known made = {.entry = (void *)((char *)statics->run + statics->used)};
  pool->persist->stream(made.entry, entry, length);
  pool->persist->fence();
  munmap(entry, length);
  statics->used += length;
  /* Crash before this fence: the entry may be there, and nothing leads to it yet. After: it has to be. */
  statics->run->used = statics->used;
  pool->persist->flush(&statics->run->used, sizeof statics->run->used);
  pool->persist->fence();
  if (!nvmi_array_push(&statics->entries, &made, sizeof made) || !index_newest(pool))
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the table of static data");
  return (int)statics->entries.count - 1;
}
