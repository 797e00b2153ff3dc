/* reach.c: see reach.h. */
#define _GNU_SOURCE
#include "gc/reach.h"
#include "base/uncancelled.h"
#include "types/block_map.h"
#include "types/crew.h"

#include "base/progress.h"
#include "format/address.h"
#include "types/types.h"
#include "types/words.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum { NEAR = 16, SHARE = 256 }; /* blocks: fetched ahead; on a stack before others may take some */
enum { PROGRESS_BLOCKS = 4096 };

/* What the threads have in common: blocks that one of them can spare. */
struct hunt {
  struct nvmi_reach *reach;
  struct nvmi_array spare; /* uint64_t: file offsets that pointers lead to */
  _Atomic size_t spare_count;
  _Atomic unsigned idle; /* threads without work */
  unsigned threads;
  _Atomic bool given_up; /* one of them, with its reason recorded in `hunter` */
};

struct hunter {
  _Alignas(NVM_LINE_SIZE) struct hunt *hunt; /* lines of its own: it changes with each block */
  pthread_t thread;
  struct nvmi_array stack; /* uint64_t */
  uint64_t near[NEAR];     /* a ring: the memory of these is on its way */
  unsigned first, count;
  uint64_t blocks, bytes;
  enum nvm_error error;
  const char *reason, *type;
};

static void give_up(struct hunter *hunter, enum nvm_error error, const char *reason,
                    const char *type) {
  hunter->error = error;
  hunter->reason = reason;
  hunter->type = type;
  atomic_store(&hunter->hunt->given_up, true);
}

/* What will be asked of a place: is it allocated, is it marked, what does it hold. */
static void bring_near(struct hunter *hunter, uint64_t offset) {
  const struct nvmi_reach *reach = hunter->hunt->reach;
  uint64_t granule = (offset - reach->pool->header.heap_offset) >> 4;
  nvmi_block_map_fetch(&reach->map, offset);
  __builtin_prefetch((const void *)&reach->marks[granule / 64], 1);
  hunter->near[(hunter->first + hunter->count++) % NEAR] = offset;
}

/* The older half of a long stack goes to those who have nothing to do. */
static void share(struct hunter *hunter) {
  struct hunt *hunt = hunter->hunt;
  size_t half = hunter->stack.count / 2;
  uint64_t *items = hunter->stack.items;
  nvmi_lock(&nvmi_locks[NVMI_LOCK_HUNT]);
  for (size_t i = 0; i < half; i++)
    if (!nvmi_array_push(&hunt->spare, &items[i], sizeof *items))
      give_up(hunter, NVM_ENOMEMORY, "out of memory for what was reached", "");
  atomic_store(&hunt->spare_count, hunt->spare.count);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_HUNT]);
  hunter->stack.count -= half;
  memmove(items, items + half, hunter->stack.count * sizeof *items);
}

static void push(struct hunter *hunter, uint64_t offset) {
  struct hunt *hunt = hunter->hunt;
  if (hunter->count < NEAR)
    bring_near(hunter, offset);
  else if (!nvmi_array_push(&hunter->stack, &offset, sizeof offset))
    give_up(hunter, NVM_ENOMEMORY, "out of memory for what was reached", "");
  else if (hunter->stack.count >= SHARE &&
           atomic_load_explicit(&hunt->idle, memory_order_relaxed) &&
           !atomic_load_explicit(&hunt->spare_count, memory_order_relaxed))
    share(hunter);
}

/* A pointer, or what may be one. */
static void follow(struct hunter *hunter, uint64_t value) {
  const struct nvm_header *header = &hunter->hunt->reach->pool->header;
  uint64_t offset;
  if (nvmi_pointer_offset(header, value, &offset) &&
      offset - header->heap_offset < header->heap_size)
    push(hunter, offset);
}

/* Whether nobody was here before. */
static bool mark(struct nvmi_reach *reach, const struct nvmi_block *block) {
  uint64_t granule = (block->offset - reach->pool->header.heap_offset) >> 4;
  uint64_t bit = UINT64_C(1) << granule % 64;
  _Atomic uint64_t *word = &reach->marks[granule / 64];
  return !(atomic_load_explicit(word, memory_order_relaxed) & bit) &&
         !(atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit);
}

static bool follow_word(void *context, const struct nvmi_word *word) {
  struct hunter *hunter = context;
  switch (word->field->kind) {
  case NVM_FIELD_POINTER:
  case NVM_FIELD_WEAK_POINTER:
  case NVM_FIELD_EITHER:
  case NVM_FIELD_UNION:
    follow(hunter, nvmi_word_value(word) & ~word->field->tag);
    return true;
  case NVM_FIELD_XOR:
    if (!nvmi_word_value(word))
      return true;
    give_up(hunter, NVM_EUNSAFE, nvmi_field_name(word->field), word->type->name);
    return false;
  default:
    return true;
  }
}

/* Addresses of the reserved range have one byte in common, the third from above: found first. */
static void follow_bytes(struct hunter *hunter, const char *bytes, uint64_t size) {
  enum { AT = 5 };
  const char *at = bytes + AT, *end = bytes + size - (sizeof(uint64_t) - 1 - AT);
  int common = (int)(NVM_RANGE_BASE >> 40 & 0xff);
  for (; size >= sizeof(uint64_t) && at < end && (at = memchr(at, common, (size_t)(end - at)));
       at++) {
    uint64_t value;
    memcpy(&value, at - AT, sizeof value);
    follow(hunter, value);
  }
}

static void look_into(struct hunter *hunter, uint64_t offset) {
  struct nvmi_reach *reach = hunter->hunt->reach;
  struct nvm_pool *pool = reach->pool;
  struct nvmi_block block;
  if (!nvmi_block_map_find(&reach->map, offset, &block) || !mark(reach, &block))
    return;
  if (hunter->blocks++ % PROGRESS_BLOCKS == 0)
    nvmi_progress(hunter->bytes * hunter->hunt->threads, pool->header.heap_size);
  hunter->bytes += block.size;
  const struct nvm_type *type = nvmi_type_layout(pool, block.type);
  if (type)
    nvmi_block_words(pool, type, pool->home + block.offset, block.size, follow_word, hunter);
  else
    follow_bytes(hunter, pool->home + block.offset, block.size);
}

static bool take_spare(struct hunter *hunter) {
  struct hunt *hunt = hunter->hunt;
  if (!atomic_load(&hunt->spare_count))
    return false;
  nvmi_lock(&nvmi_locks[NVMI_LOCK_HUNT]);
  size_t count = hunt->spare.count < SHARE ? hunt->spare.count : SHARE;
  uint64_t *items = hunt->spare.items;
  for (size_t i = 0; i < count; i++)
    push(hunter, items[hunt->spare.count - 1 - i]);
  hunt->spare.count -= count;
  atomic_store(&hunt->spare_count, hunt->spare.count);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_HUNT]);
  return count != 0;
}

static bool next(struct hunter *hunter, uint64_t *offset) {
  if (!hunter->count)
    return false;
  *offset = hunter->near[hunter->first];
  hunter->first = (hunter->first + 1) % NEAR;
  hunter->count--;
  if (hunter->stack.count)
    bring_near(hunter, ((uint64_t *)hunter->stack.items)[--hunter->stack.count]);
  return true;
}

/* False: all is reached. Who waits does not count as idle while it looks for spare blocks, so that
 * nobody goes home before they are looked into. */
static bool wait_for_more(struct hunter *hunter) {
  struct hunt *hunt = hunter->hunt;
  for (atomic_fetch_add(&hunt->idle, 1);; sched_yield()) {
    if (atomic_load(&hunt->given_up))
      return false;
    if (atomic_load(&hunt->spare_count)) {
      atomic_fetch_sub(&hunt->idle, 1);
      if (take_spare(hunter))
        return true;
      atomic_fetch_add(&hunt->idle, 1);
    } else if (atomic_load(&hunt->idle) == hunt->threads) {
      return false;
    }
  }
}

static void *hunt_on(void *argument) {
  struct hunter *hunter = argument;
  uint64_t offset;
  do {
    while (!atomic_load_explicit(&hunter->hunt->given_up, memory_order_relaxed) &&
           next(hunter, &offset))
      look_into(hunter, offset);
  } while (wait_for_more(hunter));
  return NULL;
}

void nvmi_reach_free(struct nvmi_reach *reach) {
  if (reach->marks)
    munmap((void *)reach->marks, reach->marks_size);
  reach->marks = NULL;
  nvmi_block_map_free(&reach->map);
}

static int prepare(struct nvmi_reach *reach) {
  if (nvmi_block_map_make(&reach->map, reach->pool))
    return -1;
  reach->marks_size = reach->pool->header.heap_size >> 7;
  reach->marks = nvmi_dram_reserve(reach->marks_size);
  if (reach->marks)
    return 0;
  nvmi_block_map_free(&reach->map);
  return nvmi_fail(NVM_ENOMEMORY, reach->pool->path, "out of memory for the marks of its blocks");
}

/* From the root; every thread ends when all have nothing to do. */
static void run(struct hunt *hunt, struct hunter *hunters) {
  follow(&hunters[0], *(uint64_t *)(hunt->reach->pool->home + NVM_ROOT_OFFSET));
  unsigned started = 1;
  while (started < hunt->threads &&
         pthread_create(&hunters[started].thread, NULL, hunt_on, &hunters[started]) == 0)
    started++;
  atomic_fetch_add(&hunt->idle, hunt->threads - started); /* those that could not be started */
  hunt_on(&hunters[0]);
  for (unsigned i = 1; i < started; i++)
    NVMI_UNCANCELLED(pthread_join(hunters[i].thread, NULL));
}

int nvmi_reach(struct nvmi_reach *reach, struct nvm_pool *pool) {
  struct hunter hunters[NVMI_CREW_MAX];
  struct hunt hunt = {.reach = reach, .threads = nvmi_crew_size(pool)};
  *reach = (struct nvmi_reach){.pool = pool};
  for (unsigned i = 0; i < hunt.threads; i++)
    hunters[i] = (struct hunter){.hunt = &hunt};
  int result = prepare(reach);
  if (result == 0)
    run(&hunt, hunters);
  for (unsigned i = 0; i < hunt.threads; i++) {
    const struct hunter *hunter = &hunters[i];
    reach->blocks += hunter->blocks;
    reach->bytes += hunter->bytes;
    if (hunter->error == NVM_EUNSAFE && result == 0)
      result = nvmi_fail(NVM_EUNSAFE, pool->path,
                         "what can be reached is not known: field %s of %s is made of two "
                         "pointers; free its blocks yourself",
                         hunter->reason, hunter->type);
    else if (hunter->error && result == 0)
      result = nvmi_fail(hunter->error, pool->path, "%s", hunter->reason);
    nvmi_array_free(&hunters[i].stack, sizeof(uint64_t));
  }
  nvmi_array_free(&hunt.spare, sizeof(uint64_t));
  if (result)
    nvmi_reach_free(reach);
  return result;
}
