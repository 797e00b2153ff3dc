/* roots_reset.c: volatile fields of what roots lead to are this start's: see port.h.
 */
#include "port/roots_reset.h"

#include "port/roots.h"

#include "core/map.h"
#include "heap/heap_types.h"
#include "port/port.h"
#include "types/types.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* char *: the blocks of DRAM that this start's allocators gave, in any thread; some may be gone
 * again. */
static struct nvmi_array made;
static struct nvmi_mutex *const making = &nvmi_locks[NVMI_LOCK_MADE];

void nvmi_roots_made(void *block) {
  nvmi_lock(making);
  bool kept = nvmi_array_push(&made, &block, sizeof block);
  nvmi_unlock(making);
  if (!kept)
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of what the start allocates");
}

static int by_address(const void *a, const void *b) {
  uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
  return (x > y) - (x < y);
}

static bool is_made(const char *block) {
  return made.count && bsearch(&block, made.items, made.count, sizeof block, by_address);
}

void nvmi_reset_object(const struct nvm_type *type, const char *from, char *to) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    for (uint32_t j = 0; field->kind == NVM_FIELD_VOLATILE && j < field->count; j++) {
      size_t at = field->offset + (size_t)j * field->stride;
      to[at] = from[at];
    }
  }
}

/* Both blocks may hold arrays; what one has more than the other stays as it is. */
static void reset_target(const struct nvm_type *type, char *from, char *to) {
  size_t room = malloc_usable_size(from), other = nvm_usable_size(to);
  room = room < other ? room : other;
  for (size_t at = 0; type->size && at + type->size <= room; at += type->size)
    nvmi_reset_object(type, from + at, to + at);
}

/* What one record of a root points to. */
static void reset_targets(struct nvm_pool *pool, const struct nvm_type *type, const char *address,
                          const char *value) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    const struct nvm_type *target =
        field->kind == NVM_FIELD_POINTER ? nvmi_type_by_id(pool, field->target) : NULL;
    for (uint32_t j = 0; target && target->field_count && j < field->count; j++) {
      size_t at = field->offset + (size_t)j * field->stride;
      char *from, *to;
      memcpy(&from, address + at, sizeof from);
      memcpy(&to, value + at, sizeof to);
      if (is_made(from) && nvmi_pool_at(to) == pool)
        reset_target(target, from, to);
    }
  }
}

static void reset_root(struct nvm_pool *pool, const struct nvm_root *root) {
  char *value = nvmi_root_value(pool, root);
  if (!value)
    return; /* refused when it is to be shown */
  const struct nvm_type *type = nvmi_type_by_id(pool, root->type);
  for (size_t at = 0; type && type->size && at + type->size <= root->size; at += type->size)
    reset_targets(pool, type, (char *)root->address + at, value + at);
}

void nvmi_roots_reset(struct nvm_pool *pool) {
  nvmi_lock(making);
  if (made.count)
    qsort(made.items, made.count, sizeof(char *), by_address);
  FOR_EACH_ROOT(root) {
    if (!root->constant)
      reset_root(pool, root);
  }
  nvmi_array_free(&made, sizeof(char *));
  nvmi_unlock(making);
}
