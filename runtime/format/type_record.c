/* type_record.c: a type's layout as bytes of the pool file, and back: see struct nvm_type_record.
 *
 * A decoded layout is used to find pointers in blocks, so nothing in it may lead outside its type,
 * whatever the bytes say.
 */
#include "format/type_record.h"

#include <string.h>

static uint32_t put(struct nvmi_array *bytes, const void *data, size_t size, bool *full) {
  uint32_t at = (uint32_t)bytes->count;
  if (!nvmi_array_reserve(bytes, bytes->count + size, 1)) {
    *full = true;
    return 0;
  }
  memcpy((char *)bytes->items + at, data, size);
  bytes->count += size;
  return at;
}

static uint32_t put_text(struct nvmi_array *bytes, const char *text, bool *full) {
  return put(bytes, text, strlen(text) + 1, full);
}

static void pad(struct nvmi_array *bytes, size_t to, bool *full) {
  static const char zero[NVM_LINE_SIZE];
  put(bytes, zero, (to - bytes->count % to) % to, full);
}

static uint32_t put_when(struct nvmi_array *bytes, const struct nvm_when *when, bool *full) {
  struct nvm_type_when head = {.offset = when->offset,
                               .first_bit = when->first_bit,
                               .bits = when->bits,
                               .follows = when->follows,
                               .unless = when->unless,
                               .count = when->count};
  uint32_t at = put(bytes, &head, sizeof head, full);
  put(bytes, when->values, when->count * sizeof *when->values, full);
  return at;
}

/* The parts in their order: header, fields, conditions, texts; the first two are filled in at last.
 */
bool nvmi_type_encode(const struct nvm_type *type, struct nvmi_array *bytes) {
  bool full = false;
  struct nvm_type_record head = {
      .size = type->size, .alignment = type->alignment, .field_count = type->field_count};
  struct nvm_type_field none = {0};
  put(bytes, &head, sizeof head, &full);
  for (uint32_t i = 0; i < type->field_count; i++)
    put(bytes, &none, sizeof none, &full);
  for (uint32_t i = 0; i < type->field_count && !full; i++) {
    const struct nvm_field *field = &type->fields[i];
    struct nvm_type_field made = {.target = field->target,
                                  .tag = field->tag,
                                  .offset = field->offset,
                                  .count = field->count,
                                  .stride = field->stride,
                                  .kind = field->kind};
    if (field->when)
      made.when = put_when(bytes, field->when, &full);
    if (!full)
      memcpy((char *)bytes->items + sizeof head + i * sizeof made, &made, sizeof made);
  }
  for (uint32_t i = 0; i < type->field_count && !full; i++) {
    uint32_t name = put_text(bytes, type->fields[i].name, &full);
    memcpy((char *)bytes->items + sizeof head + i * sizeof none +
               offsetof(struct nvm_type_field, name),
           &name, sizeof name);
  }
  head.name = put_text(bytes, type->name, &full);
  head.members = put_text(bytes, type->members ? type->members : "", &full);
  pad(bytes, NVM_LINE_SIZE, &full);
  if (!full)
    memcpy(bytes->items, &head, sizeof head);
  return !full;
}

struct source {
  const char *bytes;
  uint64_t size;
};

static const char *text_at(const struct source *from, uint32_t at) {
  return at < from->size && memchr(from->bytes + at, 0, from->size - at) ? from->bytes + at : NULL;
}

/* The last byte that element `count - 1` reads lies in the type. */
static bool fits(uint64_t offset, uint64_t count, uint64_t stride, uint64_t bytes, uint64_t size) {
  return count && offset + bytes <= size && (count - 1) * stride <= size - offset - bytes;
}

static bool decode_when(struct nvmi_arena *memory, const struct source *from, uint64_t size,
                        uint32_t at, struct nvm_field *field) {
  struct nvm_type_when head;
  if (at % 8 || at + sizeof head > from->size)
    return false;
  memcpy(&head, from->bytes + at, sizeof head);
  if (head.count > (from->size - at - sizeof head) / sizeof(int64_t) || !head.bits ||
      head.bits > 64 || head.first_bit > 7 ||
      !fits(head.offset, head.follows ? field->count : 1, field->stride,
            (head.first_bit + head.bits + 7u) / 8, size))
    return false;
  struct nvm_when *when = nvmi_arena_take(memory, sizeof *when);
  if (!when)
    return false;
  *when = (struct nvm_when){.offset = head.offset,
                            .first_bit = head.first_bit,
                            .bits = head.bits,
                            .follows = head.follows,
                            .unless = head.unless,
                            .count = head.count,
                            .values = (const int64_t *)(from->bytes + at + sizeof head)};
  field->when = when;
  return true;
}

static bool decode_field(struct nvmi_arena *memory, const struct source *from, uint64_t size,
                         uint32_t index, struct nvm_field *field) {
  struct nvm_type_field made;
  memcpy(&made, from->bytes + sizeof(struct nvm_type_record) + index * sizeof made, sizeof made);
  *field = (struct nvm_field){.name = text_at(from, made.name),
                              .target = made.target,
                              .tag = made.tag,
                              .offset = made.offset,
                              .count = made.count,
                              .stride = made.stride,
                              .kind = made.kind};
  if (!field->name || !field->kind || field->kind > NVM_FIELD_ADDRESS)
    return false;
  uint64_t bytes = field->kind == NVM_FIELD_VOLATILE ? 1 : sizeof(void *);
  if (field->kind == NVM_FIELD_FLEXIBLE_ARRAY /* aligned to words, perhaps */
          ? field->offset >= size + sizeof(void *) || !field->stride
          : !fits(field->offset, field->count, field->stride, bytes, size))
    return false;
  return !made.when || decode_when(memory, from, size, made.when, field);
}

const struct nvm_type *nvmi_type_decode(struct nvmi_arena *memory, uint64_t id, const char *record,
                                        uint64_t size) {
  struct source from = {record, size};
  struct nvm_type_record head;
  if (size < sizeof head)
    return NULL;
  memcpy(&head, record, sizeof head);
  if (head.field_count > (size - sizeof head) / sizeof(struct nvm_type_field))
    return NULL;
  struct nvm_type *type = nvmi_arena_take(memory, sizeof *type);
  struct nvm_field *fields = nvmi_arena_take(memory, head.field_count * sizeof *fields);
  if (!type || !fields)
    return NULL;
  *type = (struct nvm_type){.id = id,
                            .name = text_at(&from, head.name),
                            .members = text_at(&from, head.members),
                            .size = head.size,
                            .alignment = head.alignment,
                            .field_count = head.field_count,
                            .fields = fields};
  if (!type->name || !type->members)
    return NULL;
  for (uint32_t i = 0; i < head.field_count; i++)
    if (!decode_field(memory, &from, head.size, i, &fields[i]))
      return NULL;
  return type;
}

uint64_t nvmi_type_record_size(const char *record, uint64_t room) {
  struct nvmi_arena memory = {0};
  struct nvm_type_record head;
  uint64_t size = 0;
  if (room < sizeof head)
    return 0;
  memcpy(&head, record, sizeof head);
  uint64_t texts = sizeof head + head.field_count * sizeof(struct nvm_type_field);
  if (head.name >= texts && head.members > head.name && !head.reserved &&
      nvmi_type_decode(&memory, 0, record, room))
    size = head.members + strlen(record + head.members) + 1;
  nvmi_arena_free(&memory);
  return (size + NVM_LINE_SIZE - 1) & ~(uint64_t)(NVM_LINE_SIZE - 1);
}
