/* repair_types.c: the table of types.
 *
 * An entry's checksum covers its record, so it tells whether a guess is right: one byte of either
 * changed, or the id replaced by one that the program or another type names. A layout that is lost
 * for good is replaced by that of a type without description, when that was asked for. Entries gone
 * from the table's end (lost_types.h) are not made again: which id each had nothing says.
 */
#include "fsck/repair.h"

#include "base/checksum.h"
#include "format/type_record.h"
#include "fsck/lost_types.h"
#include "types/described.h"
#include "types/types.h"

#include <string.h>

enum { RECORD_MAX = 64 << 10 }; /* bytes of a record that a guess sums up */

struct guess {
  const struct nvm_pool *pool;
  struct nvm_type_entry *entry;
};

static struct nvm_type_entry *entry_at(const struct nvm_pool *pool, unsigned index) {
  return (struct nvm_type_entry *)(pool->home + NVM_TYPES_OFFSET) + index;
}

static bool is_right(void *context) {
  const struct guess *guess = context;
  return guess->entry->size <= RECORD_MAX && nvmi_type_record_of(guess->pool, guess->entry);
}

static bool has_record(const struct nvm_pool *pool, const struct nvm_type_entry *entry) {
  const struct nvm_header *h = &pool->header;
  uint64_t end = h->heap_offset + h->heap_size;
  return entry->record % NVM_LINE_SIZE == 0 && entry->record >= h->heap_offset &&
         entry->record < end && entry->size <= end - entry->record && entry->size &&
         entry->size % NVM_LINE_SIZE == 0;
}

/* The ids that fields of this record lead to. */
static bool try_targets(struct guess *guess, const struct nvm_type_entry *from) {
  const char *record = guess->pool->home + from->record;
  struct nvm_type_record head;
  memcpy(&head, record, sizeof head);
  for (uint32_t i = 0;
       i < head.field_count && (i + 1) * sizeof(struct nvm_type_field) + sizeof head <= from->size;
       i++) {
    struct nvm_type_field field;
    memcpy(&field, record + sizeof head + i * sizeof field, sizeof field);
    guess->entry->id = field.target;
    if (field.target && is_right(guess))
      return true;
  }
  return false;
}

static bool try_ids(struct guess *guess) {
  uint64_t before = guess->entry->id;
  for (unsigned i = 0; (guess->entry->id = nvmi_type_described(i)); i++)
    if (is_right(guess))
      return true;
  for (unsigned index = 1; index < NVM_TYPES_MAX; index++)
    if (has_record(guess->pool, entry_at(guess->pool, index)) &&
        try_targets(guess, entry_at(guess->pool, index)))
      return true;
  guess->entry->id = before;
  return false;
}

/* Whether the entry holds now. */
static bool mend_entry(struct nvm_pool *pool, unsigned index) {
  struct guess guess = {pool, entry_at(pool, index)};
  struct nvm_type_entry *entry = guess.entry;
  if (nvmi_mend_byte(entry, sizeof *entry, is_right, &guess) >= 0)
    return true;
  return has_record(pool, entry) &&
         (try_ids(&guess) ||
          nvmi_mend_byte(pool->home + entry->record, entry->size, is_right, &guess) >= 0);
}

/* In place of a record: nobody described it. False: there is no place. */
static bool forget(struct nvm_pool *pool, unsigned index) {
  struct nvm_type_entry *entry = entry_at(pool, index);
  const struct nvm_type unknown = {.id = entry->id, .name = "", .members = ""};
  struct nvmi_array bytes = {0};
  bool fits =
      has_record(pool, entry) && nvmi_type_encode(&unknown, &bytes) && bytes.count <= entry->size;
  if (fits) {
    entry->id = entry->id ? entry->id : UINT64_MAX - index;
    memset(pool->home + entry->record, 0, entry->size);
    memcpy(pool->home + entry->record, bytes.items, bytes.count);
    entry->check = nvmi_type_entry_check(pool, entry, pool->home + entry->record);
  }
  nvmi_array_free(&bytes, 1);
  return fits;
}

/* Up to the last one that holds. What lies behind may be mended, was torn by a crash, or never was an entry: whether
 * blocks miss it keeps_lost finds. */
static unsigned entries(const struct nvm_pool *pool) {
  unsigned count = NVM_TYPES_MAX;
  while (count > 1 && !nvmi_type_record_of(pool, entry_at(pool, count - 1)))
    count--;
  return count;
}

static bool makes_sense(struct nvm_pool *pool, unsigned index) {
  struct nvmi_arena memory = {0};
  const struct nvm_type_entry *entry = entry_at(pool, index);
  const char *record = nvmi_type_record_of(pool, entry);
  bool sense = record && nvmi_type_decode(&memory, entry->id, record, entry->size);
  nvmi_arena_free(&memory);
  return sense;
}

static bool give_up(struct nvmi_repair *repair, unsigned index, const char *why) {
  if (repair->how->forget_types && forget(repair->pool, index)) {
    nvmi_mended(repair, "type %u: its layout was lost; its blocks are without type from now on",
                index);
    return true;
  }
  nvmi_left(repair, "type %u: %s (--forget-types makes its blocks ones without type)", index, why);
  return false;
}

/* Whether blocks are of types that the table no longer has, and that is not given up. */
static bool keeps_lost(struct nvmi_repair *repair) {
  bool forget = repair->how->forget_types, lost = false;
  for (unsigned index = repair->pool->type_count; (index = nvmi_type_lost(repair->pool, index));
       index++) {
    lost = true;
    if (forget)
      nvmi_mended(repair, "type %u: its entry was gone; its blocks are without type from now on",
                  index);
    else
      nvmi_left(repair,
                "type %u: its entry is gone, and blocks are of it (--forget-types makes them ones "
                "without type)",
                index);
  }
  return lost && !forget;
}

bool nvmi_repair_types(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  unsigned count = entries(pool);
  bool whole = true;
  for (unsigned index = 1; index < NVM_TYPES_MAX; index++) {
    if (!nvmi_type_record_of(pool, entry_at(pool, index))) {
      if (mend_entry(pool, index))
        nvmi_mended(repair, "type %u: its entry holds again", index);
      else if (index < count)
        whole = give_up(repair, index, "neither its entry nor its record can be made out") && whole;
      else
        break;
    }
    if (whole && !makes_sense(pool, index))
      whole = give_up(repair, index, "its layout makes no sense") && whole;
  }
  if (whole && nvmi_types_load(pool)) {
    nvmi_left_unread(repair);
    return false;
  }
  return whole && !keeps_lost(repair);
}
