/* types.c: the table of types in the pool.
 *
 * An entry is streamed and fenced before any block names it; a torn one fails its checksum and is
 * free. Names come from the records that nvmove-cc puts into section nvm_types; without them the id
 * must do.
 */
#include "types.h"

#include "checksum.h"

#include <stdio.h>
#include <string.h>

/* The linker delimits the section; programs without it have none. */
extern const struct nvm_type *const __start_nvm_types[] __attribute__((weak));
extern const struct nvm_type *const __stop_nvm_types[] __attribute__((weak));

const struct nvm_type *nvmi_type_described(uint64_t id) {
  for (const struct nvm_type *const *at = __start_nvm_types; at < __stop_nvm_types; at++)
    if (*at && (*at)->id == id)
      return *at;
  return NULL;
}

bool nvmi_types_described(void) { return __start_nvm_types < __stop_nvm_types; }

const struct nvm_type *nvmi_type_layout(const struct nvm_pool *pool, uint64_t index) {
  return index && index < pool->type_count ? pool->types[index] : NULL;
}

bool nvmi_type_volatile_at(const struct nvm_type *type, uint64_t offset) {
  const struct nvm_field *array = NULL;
  for (uint32_t i = 0; i < type->field_count; i++)
    if (type->fields[i].kind == NVM_FIELD_FLEXIBLE_ARRAY)
      array = &type->fields[i];
  if (array && offset >= array->offset) {
    const struct nvm_type *element = nvmi_type_described(array->target);
    return element && element != type && element->size &&
           nvmi_type_volatile_at(element, offset - array->offset);
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

static struct nvm_type_entry *entry(const struct nvm_pool *pool, unsigned index) {
  return (struct nvm_type_entry *)(pool->home + NVM_TYPES_OFFSET) + index;
}

static uint64_t entry_check(const struct nvm_pool *pool, const struct nvm_type_entry *entry) {
  struct nvm_type_entry copy = *entry;
  copy.check = 0;
  return nvmi_check(&copy, sizeof copy, pool->id_seed);
}

int nvmi_types_load(struct nvm_pool *pool) {
  unsigned index = 1;
  for (; index < NVM_TYPES_MAX && entry(pool, index)->id; index++) {
    if (entry(pool, index)->check != entry_check(pool, entry(pool, index)))
      break;
    pool->type_ids[index] = entry(pool, index)->id;
    pool->types[index] = nvmi_type_described(pool->type_ids[index]);
  }
  pool->type_count = index;
  return 0;
}

static uint16_t enter(struct nvm_pool *pool, uint64_t id) {
  unsigned index = pool->type_count ? pool->type_count : 1;
  if (index == NVM_TYPES_MAX)
    return 0;
  const struct nvm_type *type = nvmi_type_described(id);
  struct nvm_type_entry fresh = {.id = id, .size = type ? type->size : 0};
  snprintf(fresh.name, sizeof fresh.name, "%s", type ? type->name : "");
  fresh.check = entry_check(pool, &fresh);
  pool->persist->stream(entry(pool, index), &fresh, sizeof fresh);
  pool->persist->fence();
  pool->type_ids[index] = id;
  pool->types[index] = type;
  __atomic_store_n(&pool->type_count, index + 1, __ATOMIC_RELEASE);
  return (uint16_t)index;
}

static uint16_t look_up(const struct nvm_pool *pool, uint64_t id) {
  unsigned count = __atomic_load_n(&pool->type_count, __ATOMIC_ACQUIRE);
  for (unsigned index = 1; index < count; index++)
    if (pool->type_ids[index] == id)
      return (uint16_t)index;
  return 0;
}

uint16_t nvmi_type_index(struct nvm_pool *pool, uint64_t id) {
  uint16_t index = look_up(pool, id);
  if (index)
    return index;
  nvmi_lock(&pool->lock);
  index = look_up(pool, id);
  if (!index)
    index = enter(pool, id);
  nvmi_unlock(&pool->lock);
  return index;
}

const char *nvmi_type_name(const struct nvm_pool *pool, uint64_t index) {
  const char *name = index && index < pool->type_count ? entry(pool, (unsigned)index)->name : "";
  return *name ? name : "untyped";
}

uint64_t __nvm_type_id(const char *name, const void *null) {
  (void)null;
  return (nvmi_check(name, strlen(name), 0) >> 1) | 1;
}
