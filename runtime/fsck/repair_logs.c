/* repair_logs.c: chains of log segments.
 *
 * Of a pool that was closed nothing in the log counts: from the first damaged log on all are cut
 * off, their runs come free. Of one that was not, the chain is put together again: a segment's
 * header says nothing that its link, its slot and its run do not say, too, and a link that leads
 * astray should lead to the one run that says it is that segment.
 */
#include "fsck/repair.h"
#include "heap/heap_chunks.h"

#include "base/checksum.h"
#include "heap/heap_types.h"
#include "log/log.h"
#include "log/log_read.h"
#include "pool/pool.h"
#include "pool/recover.h"
#include "types/types.h"

#include <string.h>

struct place {
  unsigned slot, bank, position;
};

static struct nvm_log_slot *slots_of(const struct nvmi_repair *repair) {
  return (struct nvm_log_slot *)(repair->pool->home + NVM_SLOTS_OFFSET);
}

static bool is_chunk(const struct nvm_pool *pool, uint64_t at) {
  const struct nvm_header *h = &pool->header;
  return at >= h->heap_offset && (at - h->heap_offset) % NVM_CHUNK_SIZE == 0 &&
         at - h->heap_offset < h->heap_size;
}

/* The run of this place among those of kind LOG; 0: none, or several. */
static uint64_t search(const struct nvm_pool *pool, struct place place) {
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  uint64_t found = 0;
  for (uint32_t chunk = 0; chunk < chunks; chunk++) {
    uint64_t at = nvmi_chunk_offset(pool, chunk);
    if ((*nvmi_chunk_word(pool, chunk) & 0xff) != NVM_CHUNK_LOG ||
        !nvmi_segment_valid(pool, at, place.slot, place.bank, place.position))
      continue;
    if (found)
      return 0;
    found = at;
  }
  return found;
}

/* Its header again, as its place says it. */
static bool restore_segment(struct nvm_pool *pool, uint64_t at, struct place place) {
  if (!is_chunk(pool, at))
    return false;
  uint32_t chunk = (uint32_t)((at - pool->header.heap_offset) >> NVM_CHUNK_SHIFT);
  uint64_t word = *nvmi_chunk_word(pool, chunk), next;
  struct nvm_segment *segment = (void *)(pool->home + at);
  bool known = segment->self == at && segment->slot == place.slot && segment->bank == place.bank &&
               segment->position == place.position;
  if ((word & 0xff) != NVM_CHUNK_LOG && !known)
    return false;
  next = segment->next;
  *segment = (struct nvm_segment){
      .next = next,
      .self = at,
      .size = (word & 0xff) == NVM_CHUNK_LOG ? word >> 32 << NVM_CHUNK_SHIFT : segment->size,
      .slot = place.slot,
      .bank = place.bank,
      .position = place.position};
  segment->check = nvmi_segment_check(pool, segment);
  return nvmi_segment_valid(pool, at, place.slot, place.bank, place.position);
}

/* A segment's run has to be one of kind LOG, or the heap gives it away. */
static bool claim_run(struct nvmi_repair *repair, uint64_t at, struct place place) {
  struct nvm_pool *pool = repair->pool;
  uint32_t chunk = (uint32_t)((at - pool->header.heap_offset) >> NVM_CHUNK_SHIFT);
  uint64_t word = *nvmi_chunk_word(pool, chunk);
  uint64_t count = ((struct nvm_segment *)(void *)(pool->home + at))->size >> NVM_CHUNK_SHIFT;
  uint64_t want = NVM_CHUNK_ENTRY(NVM_CHUNK_LOG, 0, 0, count);
  if (word == want)
    return true;
  if (nvmi_bytes_changed(word, want) > 1)
    return false;
  nvmi_chunk_mark(pool, chunk, want);
  nvmi_mended(repair, "log %u, bank %u: chunk %u is a run of kind LOG again", place.slot,
              place.bank, chunk);
  return true;
}

/* One bank. False: it cannot be read. */
static bool mend_chain(struct nvmi_repair *repair, unsigned slot, unsigned bank) {
  struct nvm_pool *pool = repair->pool;
  uint64_t *link = &slots_of(repair)[slot].bank[bank];
  uint64_t left = pool->header.heap_size >> NVM_CHUNK_SHIFT;
  for (struct place place = {slot, bank, 0}; *link && left; place.position++, left--) {
    if (!nvmi_segment_valid(pool, *link, slot, bank, place.position)) {
      uint64_t other = search(pool, place);
      if (other)
        *link = other;
      else if (!restore_segment(pool, *link, place))
        return false;
      nvmi_mended(repair, "log %u, bank %u: segment %u is whole again", slot, bank, place.position);
    }
    if (!claim_run(repair, *link, place))
      return false;
    link = &((struct nvm_segment *)(void *)(pool->home + *link))->next;
  }
  return left != 0;
}

static bool is_used(const struct nvm_log_slot *slot) { return slot->bank[0] || slot->bank[1]; }

static unsigned last_used(const struct nvm_log_slot *slots) {
  unsigned count = NVM_SLOTS_MAX;
  while (count && !is_used(&slots[count - 1]))
    count--;
  return count;
}

/* Whether slot, in the midst of `count`, is as a closed or a crashed pool has it. */
static bool is_sound(struct nvmi_repair *repair, unsigned slot, unsigned count) {
  const struct nvm_log_slot *slots = slots_of(repair);
  if (!slots[slot].bank[0] || (!slots[slot].bank[1] && slot + 1 < count))
    return false;
  return mend_chain(repair, slot, 0) && mend_chain(repair, slot, 1);
}

static void cut(struct nvmi_repair *repair, unsigned from, unsigned count) {
  memset(&slots_of(repair)[from], 0, (count - from) * sizeof(struct nvm_log_slot));
  if (repair->pool->header.state == NVM_STATE_CLEAN)
    nvmi_mended(repair, "log %u: cut off; the pool was closed, so nothing in it counted", from);
  else
    nvmi_mended(repair,
                "log %u and those behind: cut off; what their threads had open is half done, what "
                "they had committed last may be lost",
                from);
}

static void mend_floor(struct nvmi_repair *repair) {
  struct nvm_floor *floor = (void *)(repair->pool->home + NVM_FLOOR_OFFSET);
  if (floor->order <= NVM_ORDER_MAX)
    return;
  floor->order = 1;
  nvmi_mended(repair, "the replay floor: begun anew");
}

bool nvmi_repair_logs(struct nvmi_repair *repair) {
  bool closed = repair->pool->header.state == NVM_STATE_CLEAN;
  struct nvm_log_slot *slots = slots_of(repair);
  const struct nvm_floor *floor = (const void *)(repair->pool->home + NVM_FLOOR_OFFSET);
  unsigned count = last_used(slots);
  if (closed || repair->how->drop_log)
    mend_floor(repair);
  if (floor->order > NVM_ORDER_MAX) {
    nvmi_left(repair, "the replay floor is damaged, and the pool was not closed (--drop-log begins "
                      "anew, and loses commits that are not in place)");
    return false;
  }
  for (unsigned slot = 0; slot < count; slot++) {
    if (is_sound(repair, slot, count))
      continue;
    if (closed || repair->how->drop_log) {
      cut(repair, slot, count);
      return true;
    }
    nvmi_left(repair,
              "log %u is damaged, and the pool was not closed: what was open cannot be undone "
              "(--drop-log leaves it half done)",
              slot);
    return false;
  }
  return true;
}

bool nvmi_repair_recover(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  if (pool->header.state == NVM_STATE_CLEAN)
    return true;
  if (nvmi_recover(pool, false)) {
    bool is_damaged = nvm_errno() == NVM_ECORRUPT && !repair->how->drop_log;
    bool left_out = repair->how->drop_log && nvmi_recover(pool, true) == 0;
    if (is_damaged)
      nvmi_left(repair,
                "the log: entries of it that were durable are damaged (--drop-log leaves them "
                "out: what was open is half done, what was committed last may be lost)");
    else if (!left_out)
      nvmi_left_unread(repair);
    if (!left_out)
      return false;
    nvmi_mended(repair, "the log: entries of it are damaged and were left out; what was open is "
                        "half done, what was committed last may be lost");
  }
  pool->header.unclean_shutdowns++;
  pool->header.generation++; /* empties the logs, in the image */
  pool->header.state = NVM_STATE_CLEAN;
  return true;
}
