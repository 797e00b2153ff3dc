/* statics_entry.c: entries of the table of static data: whether one is whole, and what stands in for one that
 * is not.
 */
#include "symbols/statics.h"

#include "base/checksum.h"

#include <string.h>

uint64_t nvmi_statics_twin(const struct nvm_pool *pool, uint64_t address) {
  return ~address ^ pool->id_seed;
}

void nvmi_statics_set_address(const struct nvm_pool *pool, struct nvm_static *entry,
                              uint64_t address) {
  *(volatile uint64_t *)&entry->address = address;
  *(volatile uint64_t *)&entry->twin = nvmi_statics_twin(pool, address);
  pool->persist->flush(&entry->address, 2 * sizeof entry->address);
}

/* A crash may leave one of the two words while pointers are numbers of entries: then all are set anew. */
bool nvmi_statics_has_address(const struct nvm_pool *pool, const struct nvm_static *entry) {
  return pool->header.statics == NVM_STATICS_TOKENS ||
         entry->twin == nvmi_statics_twin(pool, entry->address);
}

uint64_t nvmi_statics_entry_check(const struct nvm_pool *pool, const struct nvm_static *entry) {
  return nvmi_check(&entry->offset, entry->length - offsetof(struct nvm_static, offset),
                    pool->id_seed);
}

static bool has_text(const struct nvm_static *entry, uint32_t at) {
  return at < entry->length && memchr((const char *)entry + at, 0, entry->length - at);
}

/* All of the string. */
static bool has_string(const struct nvm_static *entry) {
  return !(entry->flags & NVM_STATIC_STRING) ||
         (entry->text >= sizeof *entry && entry->within <= entry->text - sizeof *entry);
}

bool nvmi_statics_is_whole(const struct nvm_pool *pool, const struct nvm_static *entry,
                           uint64_t room) {
  return room >= sizeof *entry && entry->length >= sizeof *entry && entry->length <= room &&
         entry->length % NVM_LINE_SIZE == 0 &&
         entry->check == nvmi_statics_entry_check(pool, entry) && has_text(entry, entry->module) &&
         has_text(entry, entry->name) && has_text(entry, entry->file) &&
         has_text(entry, entry->text) && has_string(entry);
}

static bool is_zero(const char *at, uint64_t size) {
  while (size && !*at)
    at++, size--;
  return !size;
}

/* What was known of it is lost, but for its address, which pointers may hold. */
static void put_lost(const struct nvm_pool *pool, struct nvm_static *entry, uint32_t length) {
  static const char name[] = "lost by damage";
  const uint32_t text = sizeof *entry + sizeof name; /* a 0 */
  struct nvm_static lost = {.address = entry->address,
                            .twin = entry->twin,
                            .length = length,
                            .module = text,
                            .name = sizeof *entry,
                            .file = text,
                            .text = text};
  memset(entry, 0, length);
  *entry = lost;
  memcpy(entry + 1, name, sizeof name);
  entry->check = nvmi_statics_entry_check(pool, entry);
}

unsigned nvmi_statics_fill_holes(const struct nvm_pool *pool, struct nvm_statics_run *run) {
  bool is_known = run->used >= sizeof *run && run->used < NVM_CHUNK_SIZE;
  uint64_t at = sizeof *run, end = is_known ? run->used : NVM_CHUNK_SIZE, next;
  unsigned holes = 0;
  for (; at < end; at = next) {
    struct nvm_static *entry = (void *)((char *)run + at);
    bool is_whole = nvmi_statics_is_whole(pool, entry, NVM_CHUNK_SIZE - at);
    for (next = is_whole ? at + entry->length : at + NVM_LINE_SIZE;
         !is_whole && next < end &&
         !nvmi_statics_is_whole(pool, (void *)((char *)run + next), NVM_CHUNK_SIZE - next);)
      next += NVM_LINE_SIZE;
    if (is_whole)
      continue;
    if (next - at <= sizeof *entry || (next >= end && is_zero((char *)entry, end - at)))
      break;
    put_lost(pool, entry, (uint32_t)(next - at));
    holes++;
  }
  run->used = at;
  return holes;
}
