/* statics.c: noting pointers to static data, and linking them anew: see statics.h. */
#include "symbols/statics.h"
#include "heap/heap_chunks.h"
#include "symbols/modules.h"
#include "types/crew.h"
#include "types/judged.h"

#include "base/kill.h"
#include "core/header.h"
#include "heap/heap_types.h"
#include "symbols/symbol_names.h"
#include "symbols/symbols.h"
#include "symbols/tokens.h"
#include "types/types.h"
#include "types/words.h"

#include <stdio.h>
#include <string.h>

/* Over the tables of all pools and what symbols.c has read. */
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_STATICS];

/* The span may hold a static pointer from now on. Durable before the commit that makes it so; if
 * that fails, the mark is only a look too many. The fence is for the threads that see the mark and
 * do not write it again: theirs say nothing about this flush. */
static void mark_span(struct nvm_pool *pool, struct nvmi_span *span) {
  nvmi_thread_self()->in_heap++;
  nvmi_lock(&pool->heap->lock);
  nvmi_chunk_mark(pool, span->chunk, *nvmi_chunk_word(pool, span->chunk) | NVM_SPAN_STATICS);
  pool->persist->fence();
  atomic_store_explicit(&span->statics, true, memory_order_release);
  nvmi_unlock(&pool->heap->lock);
  nvmi_thread_self()->in_heap--;
}

/* A pointer of which nobody said that it may lead to static data. */
static bool is_plain(uint32_t kind) {
  return kind == NVM_FIELD_POINTER || kind == NVM_FIELD_WEAK_POINTER;
}

bool nvmi_is_static(const void *address) {
  struct nvmi_place place;
  nvmi_lock(lock);
  bool found = nvmi_place_of(address, &place);
  nvmi_unlock(lock);
  return found;
}

bool nvmi_static_name(const void *address, char *text, size_t size) {
  struct nvmi_place place;
  nvmi_lock(lock);
  bool found = nvmi_place_of(address, &place) && *place.name;
  if (found)
    snprintf(text, size, "'%s'%s%s", place.name, *place.file ? " of " : "", place.file);
  nvmi_symbols_release();
  nvmi_unlock(lock);
  return found;
}

static enum nvm_error enter(struct nvm_pool *pool, uint32_t kind, uint64_t value) {
  const void *address = (const void *)(uintptr_t)value;
  struct nvmi_place place;
  if (!nvmi_place_of(address, &place) || (is_plain(kind) && !place.is_constant))
    return NVM_EUNSAFE;
  int index = nvmi_statics_add(pool, &place, value);
  if (index < 0)
    return nvm_errno();
  nvmi_statics_set_build(pool, (unsigned)index);
  return NVM_OK;
}

/* Modules have been unloaded since the places of entries were looked at. */
static enum nvm_error look_again(struct nvm_pool *pool) {
  uint64_t unloaded = nvmi_modules_unloaded();
  if (unloaded == nvmi_statics_unloaded(pool))
    return NVM_OK;
  for (unsigned i = 0; i < nvmi_statics_count(pool); i++) {
    const struct nvm_static *entry = nvmi_statics_entry(pool, i);
    struct nvmi_place place;
    nvmi_statics_place(entry, &place);
    nvmi_statics_set_gone(
        pool, i,
        entry->address && !nvmi_place_is_at(&place, entry->address, nvmi_statics_build(pool, i)));
  }
  if (!nvmi_statics_refresh(pool)) {
    nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the table of static data");
    return NVM_ENOMEMORY;
  }
  nvmi_statics_set_unloaded(pool, unloaded);
  return NVM_OK;
}

/* The entry that has the address is the one that is meant. */
static bool is_known(struct nvm_pool *pool, uint64_t address, unsigned *flags) {
  return nvmi_statics_look_up(pool, address, flags) >= 0 &&
         (*flags & NVMI_STATIC_PROGRAM || nvmi_statics_unloaded(pool) == nvmi_modules_unloaded());
}

static enum nvm_error make_known(struct nvm_pool *pool, uint32_t kind, uint64_t value,
                                 unsigned *flags) {
  enum nvm_error error = look_again(pool);
  if (!error && nvmi_statics_look_up(pool, value, flags) < 0)
    error = enter(pool, kind, value);
  if (!error)
    nvmi_statics_look_up(pool, value, flags);
  return error;
}

bool nvmi_static_closed(const struct nvm_pool *pool, uint64_t address, char *text, size_t size) {
  unsigned flags;
  int entry = nvmi_statics_look_up(pool, address, &flags);
  if (entry < 0 || !(flags & NVMI_STATIC_GONE))
    return false;
  struct nvmi_place place;
  nvmi_statics_place(nvmi_statics_entry(pool, (unsigned)entry), &place);
  snprintf(text, size, "%s%s%s of %s", *place.name ? "'" : "", *place.name ? place.name : "data",
           *place.name ? "'" : "", place.module);
  return true;
}

/* Whether the tag of a field leaves no room to link it anew (tokens.h): looked at closely only
 * where the type, or what its flexible array has, has such a field. */
static bool has_full_tag(const struct nvm_pool *pool, const struct nvm_type *type) {
  bool some = false;
  for (uint32_t i = 0; i < type->field_count && !some; i++) {
    const struct nvm_field *field = &type->fields[i];
    const struct nvm_type *element =
        field->kind == NVM_FIELD_FLEXIBLE_ARRAY ? nvmi_type_by_id(pool, field->target) : NULL;
    some = field->tag && !nvmi_token_fits(field->tag);
    for (uint32_t j = 0; element && element != type && j < element->field_count; j++)
      some |= element->fields[j].tag && !nvmi_token_fits(element->fields[j].tag);
  }
  return some;
}

static bool can_relink(const struct nvm_pool *pool, const struct nvmi_span *span, uint32_t index,
                       uint64_t place, uint64_t inside) {
  const struct nvmi_geometry *geometry = &pool->heap->geometry[span->class];
  uint64_t number = *nvmi_type_word(geometry, span, index) - UINT64_C(1);
  const struct nvm_type *type = number < pool->type_count ? nvmi_type_layout(pool, number) : NULL;
  if (!type || !has_full_tag(pool, type))
    return true;
  const struct nvm_field *field =
      nvmi_pointer_field(pool, type, pool->work + place - inside, inside);
  return field && (!field->tag || nvmi_token_fits(field->tag));
}

enum nvm_error nvmi_static_note(struct nvm_pool *pool, uint32_t kind, uint64_t value,
                                uint64_t place) {
  uint64_t inside;
  uint32_t index;
  struct nvmi_span *span = nvmi_block_at(pool, place, &index, &inside);
  if (!span || place % sizeof(uint64_t) || (is_plain(kind) && span->class == NVMI_CLASSES) ||
      !can_relink(pool, span, index, place, inside))
    return NVM_EUNSAFE;
  unsigned flags;
  if (!is_known(pool, value, &flags)) {
    nvmi_lock(lock);
    enum nvm_error error = make_known(pool, kind, value, &flags);
    nvmi_unlock(lock);
    if (error)
      return error;
  }
  if (flags & NVMI_STATIC_GONE || (is_plain(kind) && !(flags & NVMI_STATIC_CONSTANT)))
    return NVM_EUNSAFE;
  if (span->class < NVMI_CLASSES && !atomic_load_explicit(&span->statics, memory_order_acquire))
    mark_span(pool, span);
  return NVM_OK;
}

/* One pass over the pointers to static data. */
struct relinker {
  struct nvm_pool *pool;
  bool to_tokens;
  bool again;            /* another process began this, and may not have flushed what it changed */
  bool only_look;        /* for pointers to what is no longer there: */
  const uint64_t *found; /* addresses now, by entry; 0: none */
  int lost;              /* the entry that one leads to; -1: none */
  char field[128];       /* that holds it */
};

static void relink_word(struct relinker *relinker, const struct nvmi_word *word, uint64_t value) {
  uint64_t tag = word->field->tag, address = value & ~tag;
  uint32_t number;
  unsigned flags;
  bool is_token = nvmi_token_is(tag, address, &number);
  int entry = is_token ? (int)number : nvmi_statics_look_up(relinker->pool, address, &flags);
  if (entry < 0 || (unsigned)entry >= nvmi_statics_count(relinker->pool))
    return;
  if (relinker->only_look) {
    if (!relinker->found[entry] && relinker->lost < 0) {
      relinker->lost = entry;
      snprintf(relinker->field, sizeof relinker->field, "field %s of %s",
               nvmi_field_name(word->field), word->type->name);
    }
    return;
  }
  if (is_token == relinker->to_tokens) {
    if (relinker->again)
      relinker->pool->persist->flush(word->at, sizeof value);
    return;
  }
  uint64_t linked = relinker->to_tokens
                        ? nvmi_token(tag, (uint32_t)entry)
                        : nvmi_statics_entry(relinker->pool, (unsigned)entry)->address;
  linked |= value & tag;
  __atomic_store_n((uint64_t *)(void *)word->at, linked, __ATOMIC_RELAXED);
  relinker->pool->persist->flush(word->at, sizeof linked);
}

static bool visit_word(void *context, const struct nvmi_word *word) {
  uint32_t kind = word->field->kind;
  if ((kind == NVM_FIELD_FUNCTION || kind == NVM_FIELD_STATIC_POINTER || is_plain(kind)) &&
      (uintptr_t)word->at % sizeof(uint64_t) == 0)
    relink_word(context, word, nvmi_word_value(word));
  return true;
}

static bool visit_block(void *context, const struct nvmi_block *block) {
  struct relinker *relinker = context;
  const struct nvm_type *type = nvmi_type_layout(relinker->pool, block->type);
  return !type || nvmi_block_words(relinker->pool, type, relinker->pool->home + block->offset,
                                   block->size, visit_word, relinker);
}

static bool has_static_fields(const struct nvm_pool *pool, uint64_t index) {
  const struct nvm_type *type = nvmi_type_layout(pool, index);
  for (uint32_t i = 0; type && i < type->field_count; i++)
    if (type->fields[i].kind == NVM_FIELD_FUNCTION ||
        type->fields[i].kind == NVM_FIELD_STATIC_POINTER ||
        type->fields[i].kind == NVM_FIELD_FLEXIBLE_ARRAY)
      return true;
  return false;
}

static void visit_run(void *context, struct nvm_pool *pool, uint32_t chunk) {
  uint64_t word = *nvmi_chunk_word(pool, chunk);
  bool is_large = (word & 0xff) == NVM_CHUNK_LARGE;
  if (is_large ? has_static_fields(pool, word >> 16 & 0xffff) : (word & NVM_SPAN_STATICS) != 0)
    nvmi_run_blocks(pool, chunk, visit_block, context);
}

static int pass(struct nvm_pool *pool, struct relinker *relinker) {
  relinker->pool = pool;
  relinker->lost = -1;
  int used = nvmi_each_run(pool, 1, visit_run, relinker, sizeof *relinker);
  nvmi_step(NVMI_STEP_MOVE);
  return used < 0 ? -1 : 0;
}

static void enter_state(struct nvm_pool *pool, enum nvm_statics_state state) {
  pool->header.statics = state;
  nvmi_header_write(pool);
  nvmi_step(NVMI_STEP_MOVE);
}

/* The steps of statics.h, from wherever the file is. */
static int relink(struct nvm_pool *pool, const uint64_t *found) {
  struct relinker to_tokens = {.to_tokens = true}, to_addresses = {0};
  to_tokens.again = pool->header.statics == NVM_STATICS_MIXED;
  if (pool->header.statics != NVM_STATICS_TOKENS) {
    enter_state(pool, NVM_STATICS_MIXED);
    if (pass(pool, &to_tokens))
      return -1;
    enter_state(pool, NVM_STATICS_TOKENS);
  }
  for (unsigned i = 0; i < nvmi_statics_count(pool); i++) {
    struct nvm_static *entry = nvmi_statics_entry(pool, i);
    nvmi_statics_set_address(pool, entry, found[i]);
  }
  /* Fenced with the header that follows: were that there first, all would still be tokens. */
  if (!nvmi_statics_index(pool))
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the table of static data");
  enter_state(pool, NVM_STATICS_MIXED);
  if (pass(pool, &to_addresses))
    return -1;
  enter_state(pool, NVM_STATICS_BOUND);
  return 0;
}

/* What a place is, for messages. */
static void describe(const struct nvmi_place *place, char *text, size_t size) {
  struct nvmi_symbol_name symbol = nvmi_symbol_name(place->name, place->file);
  if (place->text)
    snprintf(text, size, "the text \"%.40s\"", place->text);
  else if (nvmi_symbol_is_content(place->name))
    snprintf(text, size, "a constant without a name in the source");
  else if (*place->name)
    snprintf(text, size, "%.*s%s%.*s", (int)symbol.length, symbol.name,
             symbol.file_length ? " of " : "", (int)symbol.file_length, symbol.file);
  else
    snprintf(text, size, "nameless data (at %#llx)", (unsigned long long)place->offset);
}

static int refuse(const struct nvm_pool *pool, const struct relinker *lost) {
  struct nvmi_place place;
  uint64_t address;
  char what[512];
  nvmi_statics_place(nvmi_statics_entry(pool, (unsigned)lost->lost), &place);
  describe(&place, what, sizeof what);
  const char *module = *place.module ? place.module : "the program";
  enum nvmi_found found = nvmi_place_find(&place, &address);
  switch (found) {
  case NVMI_AMBIGUOUS:
    return nvmi_fail(
        NVM_ESTATIC, pool->path,
        "%s points to one of several %s in %s, which nothing tells apart; open it with "
        "the build that wrote it, or give each a name of its own",
        lost->field, what, module);
  case NVMI_RESIZED:
    return nvmi_fail(NVM_ESTATIC, pool->path,
                     "%s points into %s in %s, which has another size in this build: what it means "
                     "may lie elsewhere in it; open it with the build that wrote it",
                     lost->field, what, module);
  case NVMI_NAMESAKES:
    return nvmi_fail(NVM_ESTATIC, pool->path,
                     "%s points to %s in %s, and several libraries of that name are loaded, none "
                     "of them the one that was meant; load that one, or give each a file name of "
                     "its own",
                     lost->field, what, module);
  case NVMI_COPIES:
    return nvmi_fail(NVM_ESTATIC, pool->path,
                     "%s points to %s in %s, which is loaded twice; load one of them when the pool "
                     "is opened",
                     lost->field, what, module);
  default:
    break;
  }
  if (!place.text && !*place.name)
    return nvmi_fail(NVM_ESTATIC, pool->path,
                     "%s points to nameless data of another build of %s (at %#llx); open it with "
                     "that build (what nvmove-cc compiled has names, until it is stripped)",
                     lost->field, module, (unsigned long long)place.offset);
  return nvmi_fail(NVM_ESTATIC, pool->path, "%s points to %s, which %s lacks", lost->field, what,
                   module);
}

int nvmi_statics_relink(struct nvm_pool *pool) {
  unsigned count = nvmi_statics_count(pool);
  struct nvmi_array found = {0};
  struct relinker look = {.only_look = true};
  bool moved = pool->header.statics != NVM_STATICS_BOUND, lost = false;
  if (!count && !moved)
    return 0;
  if (!nvmi_array_reserve(&found, count + 1, sizeof(uint64_t)))
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the table of static data");
  uint64_t *address = found.items;
  nvmi_lock(lock);
  for (unsigned i = 0; i < count; i++) {
    const struct nvm_static *entry = nvmi_statics_entry(pool, i);
    struct nvmi_place place;
    nvmi_statics_place(entry, &place);
    if (nvmi_place_find(&place, &address[i]) != NVMI_FOUND)
      address[i] = 0;
    moved |= address[i] != entry->address;
    lost |= !address[i];
  }
  look.found = address;
  int result = lost ? pass(pool, &look) : 0;
  if (result == 0 && lost && look.lost >= 0)
    result = refuse(pool, &look);
  else if (result == 0 && moved)
    result = relink(pool, address);
  for (unsigned i = 0; i < count && result == 0; i++)
    nvmi_statics_set_build(pool, i);
  nvmi_symbols_release();
  nvmi_unlock(lock);
  nvmi_array_free(&found, sizeof(uint64_t));
  return result;
}
