/* described.c: the layouts that the program describes, and its libraries.
 *
 * The program's are a section that the linker delimits. A library's are told of by a constructor
 * that the compiler puts into it, and copied, as it may go again while pools have blocks of its
 * types. A library that is loaded later may describe types that an open pool has blocks of already.
 */
#include "types/described.h"
#include "types/judged.h"

#include "core/map.h"
#include "format/type_record.h"
#include "types/types.h"

#include <string.h>

/* Programs without the section have none. */
extern const struct nvm_type *const __start_nvm_types[] __attribute__((weak));
extern const struct nvm_type *const __stop_nvm_types[] __attribute__((weak));

static struct loaded {
  const struct nvm_type *type;
  struct loaded *next;
} *_Atomic libraries; /* the last first; never taken away */
enum { FOUND = 256 };
static const struct nvm_type *_Atomic found[FOUND]; /* of the ids that were asked for last */
static _Atomic unsigned generation;
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_DESCRIBED];

static bool is_wanted(const struct nvm_type *type, uint64_t id, const char *name) {
  return type && (name ? strcmp(type->name, name) == 0 : type->id == id);
}

static const struct nvm_type *find(uint64_t id, const char *name) {
  for (const struct nvm_type *const *at = __start_nvm_types; at < __stop_nvm_types; at++)
    if (is_wanted(*at, id, name))
      return *at;
  for (const struct loaded *at = libraries; at; at = at->next)
    if (is_wanted(at->type, id, name))
      return at->type;
  return NULL;
}

/* Commits ask for the elements of flexible arrays. No type goes away, and no two have the same id. */
const struct nvm_type *nvmi_described(uint64_t id) {
  const struct nvm_type *_Atomic *recent = &found[id % FOUND];
  const struct nvm_type *type = atomic_load_explicit(recent, memory_order_acquire);
  if (NVMI_LIKELY(type && type->id == id))
    return type;
  type = find(id, NULL);
  if (type)
    atomic_store_explicit(recent, type, memory_order_release);
  return type;
}

const struct nvm_type *nvmi_described_as(const char *name) { return find(0, name); }

uint64_t nvmi_type_described(unsigned index) {
  for (const struct nvm_type *const *at = __start_nvm_types; at < __stop_nvm_types; at++)
    if (*at && index-- == 0)
      return (*at)->id;
  for (const struct loaded *at = libraries; at; at = at->next)
    if (index-- == 0)
      return at->type->id;
  return 0;
}

bool nvmi_types_described(void) { return __start_nvm_types < __stop_nvm_types || libraries; }

/* Whether some type that is described is such. */
static bool is_some(bool (*is)(const struct nvm_type *type)) {
  bool some = false;
  for (const struct nvm_type *const *at = __start_nvm_types; at < __stop_nvm_types && !some; at++)
    some = *at && is(*at);
  for (const struct loaded *item = libraries; item && !some; item = item->next)
    some = is(item->type);
  return some;
}

bool nvmi_types_have_volatile(void) { return is_some(nvmi_has_volatile); }

/* Null: out of memory. */
static const struct nvm_type *copy(const struct nvm_type *type) {
  static struct nvmi_arena memory;
  struct nvmi_array bytes = {0};
  char *record = nvmi_type_encode(type, &bytes) ? nvmi_arena_take(&memory, bytes.count) : NULL;
  const struct nvm_type *made = NULL;
  if (record) {
    memcpy(record, bytes.items, bytes.count);
    made = nvmi_type_decode(&memory, type->id, record, bytes.count);
  }
  struct loaded *item = made ? nvmi_arena_take(&memory, sizeof *item) : NULL;
  nvmi_array_free(&bytes, 1);
  if (!item)
    return NULL;
  *item = (struct loaded){made, libraries};
  libraries = item;
  return made;
}

unsigned nvmi_types_generation(void) { return generation; }

/* One that is being opened asks for the generation when it is in use. None goes away meanwhile. */
static void learn_in(unsigned index) {
  nvmi_lock(&nvmi_locks[NVMI_LOCK_LEAVING]);
  struct nvm_pool *pool = nvmi_pool_in_use(index);
  if (pool)
    nvmi_types_learn(pool);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_LEAVING]);
}

void __nvm_describe(const struct nvm_type *const *Begin, const struct nvm_type *const *End) {
  bool any = false;
  if (Begin == __start_nvm_types)
    return;
  nvmi_lock(lock);
  for (const struct nvm_type *const *at = Begin; at < End; at++)
    if (*at && !nvmi_described((*at)->id)) {
      if (!copy(*at))
        nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the layouts of a library's types");
      any = true;
    }
  nvmi_unlock(lock);
  generation += any;
  for (unsigned i = 0; any && i < NVMI_POOLS_MAX; i++)
    learn_in(i);
}
