/* judged.c: which words of a type are pointers that a commit judges (types.h).
 *
 * A block may hold an array of its type; what follows the first record of a type with a flexible
 * array is that array. Members of unions are judged where a mark says when they are pointers
 * (NVM_WHEN, NVM_UNLESS), else not.
 */
#include "types/judged.h"

#include "types/types.h"
#include "types/words.h"

const struct nvm_field *nvmi_field_at(const struct nvm_pool *pool, const struct nvm_type *type,
                                      const struct nvmi_view *view, uint64_t record,
                                      uint64_t offset) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    if (offset < field->offset)
      continue;
    uint64_t from = offset - field->offset;
    if (field->kind == NVM_FIELD_FLEXIBLE_ARRAY) {
      const struct nvm_type *element = nvmi_type_by_id(pool, field->target);
      if (!element || element == type || !element->size)
        return NULL;
      uint64_t start = from - from % element->size;
      return nvmi_field_at(pool, element, view, record + field->offset + start, from - start);
    }
    if (field->stride && from % field->stride == 0 && from / field->stride < field->count &&
        nvmi_field_holds_in(field, view, record, from / field->stride))
      return field;
  }
  return NULL;
}

const struct nvm_field *nvmi_pointer_field(const struct nvm_pool *pool, const struct nvm_type *type,
                                           const char *block, uint64_t inside) {
  uint64_t before = nvmi_type_tail(type) ? 0 : inside - inside % type->size;
  struct nvmi_view view = nvmi_view_of(block);
  return nvmi_field_at(pool, type, &view, before, inside - before);
}

bool nvmi_is_hidden(const struct nvm_type *type, const struct nvm_field *field, uint64_t record) {
  enum { WORD = sizeof(uint64_t) };
  return (record + field->offset) % WORD || (field->count > 1 && field->stride % WORD) ||
         type->size % WORD || field->tag >> NVMI_ADDRESS_BITS;
}

bool nvmi_judged_by_record(const struct nvm_type *type) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    bool is_array = field->kind == NVM_FIELD_FLEXIBLE_ARRAY;
    if ((is_array || nvmi_is_judged(field->kind)) &&
        (field->when || nvmi_is_hidden(type, field, 0)))
      return true;
  }
  return false;
}

bool nvmi_has_volatile(const struct nvm_type *type) {
  for (uint32_t i = 0; i < type->field_count; i++)
    if (type->fields[i].kind == NVM_FIELD_VOLATILE)
      return true;
  return false;
}

/* The elements of a flexible array, too. */
static bool is_such(const struct nvm_pool *pool, const struct nvm_type *type,
                    bool (*is)(const struct nvm_type *type)) {
  const struct nvm_field *tail = nvmi_type_tail(type);
  const struct nvm_type *element = tail ? nvmi_type_by_id(pool, tail->target) : NULL;
  return is(type) || (element && is(element));
}

static uint64_t words_of_field(const struct nvm_pool *pool, const struct nvm_type *type,
                               const struct nvm_field *field) {
  uint64_t words = 0, end = NVMI_JUDGED_LATER_BIT * sizeof(uint64_t);
  if (field->kind == NVM_FIELD_FLEXIBLE_ARRAY) {
    const struct nvm_type *element = nvmi_type_by_id(pool, field->target);
    bool holds_any = element && element != type && element->size && element->field_count;
    for (uint64_t at = field->offset; holds_any && at < end; at++)
      words |= UINT64_C(1) << at / sizeof(uint64_t);
    return holds_any ? words | UINT64_C(1) << NVMI_JUDGED_LATER_BIT : 0;
  }
  if (!nvmi_is_judged(field->kind))
    return 0;
  for (uint32_t i = 0; i < field->count; i++) {
    uint64_t at = field->offset + (uint64_t)i * field->stride;
    if (at >= end)
      return words | UINT64_C(1) << NVMI_JUDGED_LATER_BIT;
    words |= UINT64_C(1) << at / sizeof(uint64_t);
  }
  return words;
}

uint64_t nvmi_judged_learn(struct nvm_pool *pool, unsigned index) {
  unsigned learned = pool->learned;
  const struct nvm_type *type = nvmi_type_layout(pool, index);
  uint64_t words = NVMI_JUDGED_KNOWN;
  if (type && nvmi_type_tail(type))
    words |= UINT64_C(1) << NVMI_JUDGED_FLEXIBLE_BIT;
  if (type && type->field_count)
    words |= UINT64_C(1) << NVMI_JUDGED_FIELDS_BIT;
  if (type && is_such(pool, type, nvmi_judged_by_record))
    words |= UINT64_C(1) << NVMI_JUDGED_BY_RECORD_BIT;
  if (type && is_such(pool, type, nvmi_has_volatile))
    words |= UINT64_C(1) << NVMI_JUDGED_VOLATILE_BIT;
  for (uint32_t i = 0; type && i < type->field_count; i++)
    words |= words_of_field(pool, type, &type->fields[i]);
  pool->judged[index] = words;
  if (pool->learned != learned)
    pool->judged[index] = 0; /* who learned has emptied it before */
  return words;
}
