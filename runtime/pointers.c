/* pointers.c: referential integrity at commit (Breeze, section IV.D).
 *
 * A pointer in the pool to DRAM or to another pool is a pointer to nothing after a restart. Where
 * nvmove-cc described the type of a block, the pointer fields among the bytes that a transaction
 * wrote are looked at before it commits. A block may hold an array of its type; what follows the
 * first record of a type with a flexible array is that array. Unions, function pointers and
 * pointers to static data are not judged.
 */
#include "heap_types.h"

#include "types.h"

#include <string.h>

static const struct nvm_field *field_at(const struct nvm_type *type, uint64_t offset) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    if (field->kind == NVM_FIELD_FLEXIBLE_ARRAY && offset >= field->offset) {
      const struct nvm_type *element = nvmi_type_described(field->target);
      return element && element != type && element->size
                 ? field_at(element, (offset - field->offset) % element->size)
                 : NULL;
    }
    if (offset < field->offset)
      continue;
    uint64_t from = offset - field->offset;
    if (from == 0 ||
        (field->stride && from % field->stride == 0 && from / field->stride < field->count))
      return field;
  }
  return NULL;
}

static bool has_flexible_array(const struct nvm_type *type) {
  for (uint32_t i = 0; i < type->field_count; i++)
    if (type->fields[i].kind == NVM_FIELD_FLEXIBLE_ARRAY)
      return true;
  return false;
}

static enum nvm_error check_word(struct nvm_pool *pool, const struct nvm_type *type,
                                 uint64_t inside, uint64_t offset) {
  if (!has_flexible_array(type))
    inside %= type->size;
  const struct nvm_field *field = field_at(type, inside);
  if (!field || (field->kind != NVM_FIELD_POINTER && field->kind != NVM_FIELD_WEAK_POINTER))
    return NVM_OK;
  void *value;
  memcpy(&value, pool->work + offset, sizeof value);
  struct nvm_pool *owner = nvmi_pool_at(value);
  if (!value || owner == pool)
    return NVM_OK;
  nvmi_fail(
      NVM_EUNSAFE, pool->path,
      "unsafe pointer: field %s of the %s at %p is %p, which lies in %s; build with nvmove-cc's "
      "checks to see the store",
      field->name, type->name, (void *)(pool->work + offset - inside), value,
      owner ? owner->path : "volatile memory");
  return NVM_EUNSAFE;
}

static enum nvm_error check_line(struct nvm_pool *pool, uint64_t line, uint64_t mask) {
  for (unsigned word = 0; word < 8; word++) {
    uint64_t offset = (line << 6) - pool->header.base + 8 * word, inside;
    uint32_t index;
    if (!(mask >> (8 * word) & 0xff))
      continue;
    const struct nvmi_span *span = nvmi_block_at(pool, offset, &index, &inside);
    const struct nvm_type *type = span ? nvmi_type_layout(pool, span->words[index] - 1u) : NULL;
    enum nvm_error error =
        type && type->size && type->field_count ? check_word(pool, type, inside, offset) : NVM_OK;
    if (error)
      return error;
  }
  return NVM_OK;
}

enum nvm_error nvmi_check_pointers(struct nvm_pool *pool, const struct nvmi_line *lines,
                                   size_t count) {
  if (NVMI_UNLIKELY(!pool->heap->built)) {
    nvmi_lock(&pool->heap->lock);
    int damaged = nvmi_heap_build(pool);
    nvmi_unlock(&pool->heap->lock);
    if (damaged)
      return NVM_ECORRUPT;
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t line = lines[i].line & ~NVMI_RANGE;
    bool range = lines[i].line & NVMI_RANGE;
    for (uint64_t j = 0; j < (range ? lines[i].mask : 1); j++) {
      enum nvm_error error = check_line(pool, line + j, range ? UINT64_MAX : lines[i].mask);
      if (error)
        return error;
    }
  }
  return NVM_OK;
}
