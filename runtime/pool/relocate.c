/* relocate.c: see relocate.h. */
#include "pool/relocate.h"
#include "types/crew.h"

#include "base/kill.h"
#include "core/header.h"
#include "heap/heap_types.h"
#include "types/types.h"
#include "types/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What one thread does; the first obstacle it meets ends its work. */
struct mover {
  _Alignas(NVM_LINE_SIZE) struct nvm_pool *pool; /* lines of its own: it changes with each object */
  bool back;        /* of an attempt that failed: obstacles were left alone, and are again */
  bool again;       /* another process began this, and may not have flushed what it changed */
  bool stuck;       /* met one: */
  uint64_t offset;  /* in the file */
  char reason[160]; /* in words */
  uintptr_t line;   /* changed, and not yet flushed */
};

static bool __attribute__((format(printf, 3, 4))) get_stuck(struct mover *mover, const char *at,
                                                            const char *format, ...) {
  if (mover->back)
    return true;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(mover->reason, sizeof mover->reason, format, arguments);
  va_end(arguments);
  mover->stuck = true;
  mover->offset = (uint64_t)(at - mover->pool->home);
  return false;
}

static void change_line(struct mover *mover, uintptr_t line) {
  if (mover->line && mover->line != line)
    mover->pool->persist->flush((void *)mover->line, NVM_LINE_SIZE);
  mover->line = line;
}

static bool carry(struct mover *mover, const struct nvmi_word *word, uint64_t value, uint64_t tag) {
  const struct nvm_header *header = &mover->pool->header;
  uint64_t offset, address = value & ~tag;
  if (!nvmi_pointer_offset(header, address, &offset))
    return true;
  if (address == header->base + offset) {
    if (mover->again)
      change_line(mover, (uintptr_t)word->at & ~(uintptr_t)(NVM_LINE_SIZE - 1));
    return true;
  }
  if ((uintptr_t)word->at % sizeof(uint64_t))
    return get_stuck(mover, word->at,
                     "field %s of %s is not aligned, so that a crash could tear it",
                     nvmi_field_name(word->field), word->type->name);
  change_line(mover, (uintptr_t)word->at & ~(uintptr_t)(NVM_LINE_SIZE - 1));
  __atomic_store_n((uint64_t *)(void *)word->at, (header->base + offset) | (value & tag),
                   __ATOMIC_RELAXED);
  return true;
}

static bool move_word(void *context, const struct nvmi_word *word) {
  struct mover *mover = context;
  const struct nvm_header *header = &mover->pool->header;
  uint64_t value = nvmi_word_value(word);
  switch (word->field->kind) {
  case NVM_FIELD_POINTER:
  case NVM_FIELD_WEAK_POINTER:
  case NVM_FIELD_EITHER:
  case NVM_FIELD_XOR: /* of two pointers, nothing is left of the base */
    return carry(mover, word, value, word->field->tag);
  case NVM_FIELD_UNION:
    return !nvmi_is_at(value, nvmi_origin(header), header->range) ||
           get_stuck(mover, word->at,
                     "field %s of %s may be a pointer or a number: mark it with NVM_WHEN or "
                     "NVM_PTR_OR_NUMBER",
                     nvmi_field_name(word->field), word->type->name);
  case NVM_FIELD_ADDRESS:
    return !value || get_stuck(mover, word->at, "field %s of %s is made of addresses",
                               nvmi_field_name(word->field), word->type->name);
  default:
    return true;
  }
}

/* Bytes of no type: anything that looks like an address into the pool may be one. */
static bool look_at_untyped(struct mover *mover, const char *bytes, uint64_t size) {
  const struct nvm_header *header = &mover->pool->header;
  for (uint64_t at = 0; at + sizeof(uint64_t) <= size; at++) {
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    if (nvmi_is_at(value, nvmi_origin(header), header->range))
      return get_stuck(mover, bytes + at,
                       "a block without type holds what may be a pointer: allocate it with "
                       "NVM_TYPE_ID in a program built with nvmove-cc");
  }
  return true;
}

static bool move_block(void *context, const struct nvmi_block *block) {
  struct mover *mover = context;
  char *bytes = mover->pool->home + block->offset;
  const struct nvm_type *type = nvmi_type_layout(mover->pool, block->type);
  return type ? nvmi_block_words(mover->pool, type, bytes, block->size, move_word, mover)
              : look_at_untyped(mover, bytes, block->size);
}

static void move_run(void *context, struct nvm_pool *pool, uint32_t chunk) {
  struct mover *mover = context;
  if (mover->stuck)
    return;
  nvmi_run_blocks(pool, chunk, move_block, mover);
  change_line(mover, 0);
  nvmi_step(NVMI_STEP_MOVE);
}

static void move_root(struct mover *mover) {
  static const struct nvm_field field = {.name = "root", .count = 1, .kind = NVM_FIELD_POINTER};
  static const struct nvm_type type = {.name = "the pool", .size = sizeof(void *)};
  struct nvmi_word word = {mover->pool->home + NVM_ROOT_OFFSET, &type, &field};
  move_word(mover, &word);
  change_line(mover, 0);
}

/* All pointers to header.base, which is durable. -1: recorded, or `*stuck` says where. */
static int move_all(struct nvm_pool *pool, bool back, bool again, struct mover *stuck) {
  unsigned threads = nvmi_crew_size(pool);
  struct mover movers[NVMI_CREW_MAX];
  for (unsigned i = 0; i < threads; i++)
    movers[i] = (struct mover){.pool = pool, .back = back, .again = again};
  move_root(&movers[0]);
  int used = nvmi_each_run(pool, threads, move_run, movers, sizeof movers[0]);
  stuck->stuck = false;
  for (int i = 0; i < used; i++)
    if (movers[i].stuck && (!stuck->stuck || movers[i].offset < stuck->offset))
      *stuck = movers[i];
  return used < 0 || stuck->stuck ? -1 : 0;
}

static void set_target(struct nvm_pool *pool, uint64_t base) {
  struct nvm_header *h = &pool->header;
  if (h->base == base)
    return;
  if (!nvmi_is_former(h, h->base))
    h->moved_from[h->moves++] = h->base;
  h->base = base;
  nvmi_header_write(pool);
  nvmi_step(NVMI_STEP_MOVE);
}

static void arrive(struct nvm_pool *pool) {
  struct nvm_header *h = &pool->header;
  memset(h->moved_from, 0, sizeof h->moved_from);
  h->moves = 0;
  nvmi_header_write(pool);
  nvmi_step(NVMI_STEP_MOVE);
}

int nvmi_relocate(struct nvm_pool *pool) {
  struct nvm_header *h = &pool->header;
  struct mover stuck;
  uint64_t base = (uint64_t)(uintptr_t)pool->work;
  if (h->base == base && !h->moves)
    return 0;
  bool is_back = base == nvmi_origin(h); /* from a move that was interrupted */
  bool again = h->moves;
  set_target(pool, base);
  if (move_all(pool, is_back, again, &stuck) == 0) {
    arrive(pool);
    return 0;
  }
  /* Crash meanwhile: an unfinished move back, which the next opening finishes to wherever. */
  uint64_t home = nvmi_origin(h);
  bool is_obstacle = stuck.stuck;
  set_target(pool, home);
  if (move_all(pool, true, again, &(struct mover){0}) == 0)
    arrive(pool);
  return !is_obstacle
             ? -1
             : nvmi_fail(NVM_EADDRESS, pool->path,
                         "cannot be moved from %#llx to %#llx, where it would have to "
                         "be: at offset %#llx %s; docs/guide/operations.md, \"Other addresses\", "
                         "says how to mark it",
                         (unsigned long long)home, (unsigned long long)base,
                         (unsigned long long)stuck.offset, stuck.reason);
}
