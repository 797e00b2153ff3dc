/* convert.c: see include/nvmove/convert.h. */
#include "core/map.h"
#include "core/tracing.h"
#include "heap/heap_chunks.h"
#include "heap/heap_types.h"
#include "symbols/statics.h"
#include "tx/wrap.h"
#include "types/types.h"
#include "types/words.h"

#include "nvmove/convert.h"

#include <string.h>

int nvm_pool_each_type(NVM_POOL *pool, bool (*visit)(void *, const struct nvm_type *),
                       void *context) {
  if (!pool)
    return nvmi_fail_no_pool();
  for (unsigned index = 1; index < pool->type_count; index++) {
    const struct nvm_type *type = nvmi_type_layout(pool, index);
    if (type && !visit(context, type))
      break;
  }
  return 0;
}

int nvm_pool_describe(NVM_POOL *pool, const struct nvm_type *type) {
  if (!pool)
    return nvmi_fail_no_pool();
  if (pool->forked)
    return nvmi_fail(NVM_ECHILD, pool->path, "a forked child has no pool");
  if (!type || !type->id || !type->name)
    return nvmi_fail(NVM_EARGUMENT, pool->path, "no layout was given, or one without id or name");
  return nvmi_type_describe(pool, type) < 0 ? -1 : 0;
}

int nvm_pool_store(NVM_POOL *pool, void *to, const void *bytes, size_t size) {
  if (!pool)
    return nvmi_fail_no_pool();
  if (nvmi_pool_at(to) != pool)
    return nvmi_fail(NVM_EPOINTER, pool->path,
                     "%p does not lie in the pool; pass an address of one of its blocks", to);
  nvmi_write(to, bytes, size);
  return 0;
}

struct visitor {
  bool (*visit)(void *context, const struct nvm_word *word);
  void *context;
};

static bool visit_word(void *context, const struct nvmi_word *word) {
  const struct visitor *visitor = context;
  struct nvm_word seen = {word->at, word->type, word->field};
  return visitor->visit(visitor->context, &seen);
}

int nvm_pool_each_word(NVM_POOL *pool, uint64_t type, void *bytes, size_t size,
                       bool (*visit)(void *, const struct nvm_word *), void *context) {
  if (!pool)
    return nvmi_fail_no_pool();
  const struct nvm_type *layout = nvmi_type_by_id(pool, type);
  struct visitor visitor = {visit, context};
  if (layout)
    nvmi_block_words(pool, layout, bytes, size, visit_word, &visitor);
  return 0;
}

/* One too many costs a look at the next opening. */
static void mark(void *context, struct nvm_pool *pool, uint32_t chunk, uint32_t count) {
  uint64_t word = *nvmi_chunk_word(pool, chunk);
  (void)context, (void)count;
  if ((word & 0xff) == NVM_CHUNK_SMALL)
    nvmi_chunk_mark(pool, chunk, word | NVM_SPAN_STATICS);
}

/* Crash before the last fence: spans without mark, in a pool that nobody was given yet. */
int nvm_pool_convert_statics(NVM_POOL *to, NVM_POOL *from) {
  if (!to || !from)
    return nvmi_fail_no_pool();
  unsigned count = nvmi_statics_count(from);
  if (from->header.statics != NVM_STATICS_BOUND)
    return nvmi_fail(NVM_ESTATIC, from->path,
                     "its pointers to static data are half bound; open it once with its program");
  for (unsigned i = 0; i < count; i++) {
    const struct nvm_static *entry = nvmi_statics_entry(from, i);
    struct nvmi_place place;
    nvmi_statics_place(entry, &place);
    if (nvmi_statics_add(to, &place, entry->address) < 0)
      return -1;
  }
  if (!count)
    return 0;
  nvmi_heap_each_run(to, mark, NULL);
  to->persist->fence();
  return 0;
}
