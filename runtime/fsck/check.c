/* check.c: nvm_pool_check: does a pool that nobody has open keep the invariants of its format?
 *
 * Reads the file through a private mapping and changes nothing. Looks at both header copies, the
 * chains of log segments, the tiling of the heap, spans' tables and the root. Where nobody closed the
 * pool, the logs are replayed in the mapping first: what they hold is what an opening will have. It
 * does not follow the program's own pointers.
 */
#define _GNU_SOURCE
#include "base/own_files.h"
#include "gc/counts.h"
#include "heap/heap_chunks.h"
#include "heap/heap_spans.h"
#include "heap/heap_types.h"
#include "platform/disk.h"

#include "base/progress.h"
#include "core/map.h"
#include "format/address.h"
#include "fsck/nameless.h"
#include "fsck/repair.h"
#include "fsck/unused.h"
#include "log/log_read.h"
#include "pool/pool.h"
#include "pool/recover.h"
#include "pool/root.h"
#include "symbols/statics.h"
#include "types/types.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct check {
  struct nvm_pool *pool;
  void (*report)(void *, const char *);
  void *context;
  bool is_open; /* the file is as a process left it that died: the logs say what holds */
  int faults;
};

static void __attribute__((format(printf, 2, 3))) fault(struct check *check, const char *format,
                                                        ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  check->faults++;
  if (check->report)
    check->report(check->context, line);
}

static void check_headers(struct check *check) {
  const char *home = check->pool->home;
  if (memcmp(home, home + NVM_HEADER_COPY_SIZE, sizeof(struct nvm_header)) != 0)
    fault(check, "the header copies differ; opening the pool repairs that");
}

static void check_segment(void *context, const struct nvm_segment *segment) {
  struct check *check = context;
  struct nvm_pool *pool = check->pool;
  uint64_t chunk = (segment->self - pool->header.heap_offset) >> NVM_CHUNK_SHIFT;
  uint64_t word = *nvmi_chunk_word(pool, (uint32_t)chunk);
  if (word != NVM_CHUNK_ENTRY(NVM_CHUNK_LOG, 0, 0, segment->size >> NVM_CHUNK_SHIFT))
    fault(check, "log segment at %#llx is not a run of kind LOG",
          (unsigned long long)segment->self);
}

static void check_logs(struct check *check) {
  const struct nvm_log_slot *slots = (const void *)(check->pool->home + NVM_SLOTS_OFFSET);
  unsigned slot = 0;
  for (; slot < NVM_SLOTS_MAX && slots[slot].bank[0]; slot++) {
    for (unsigned bank = 0; bank < 2; bank++)
      if (!nvmi_each_segment(check->pool, slot, bank, check_segment, check))
        fault(check, "log %u, bank %u: a segment is damaged", slot, bank);
    /* The newest may be half made: the process died between its banks. */
    if (!slots[slot].bank[1] && slot + 1 < NVM_SLOTS_MAX && slots[slot + 1].bank[0])
      fault(check, "log %u has one bank, but there is another behind it", slot);
  }
  for (; slot < NVM_SLOTS_MAX; slot++)
    if (slots[slot].bank[0] || slots[slot].bank[1])
      fault(check, "log %u: in use behind one that is not", slot);
}

/* What a part of the pool says that cannot be read: recorded, with the path in front. */
static void unreadable(struct check *check) { fault(check, "%s", nvmi_said_of(check->pool->path)); }

static void check_span(struct check *check, uint32_t chunk, const struct nvmi_span *shape) {
  struct nvm_pool *pool = check->pool;
  const uint16_t *table = (const void *)(pool->home + nvmi_chunk_offset(pool, chunk));
  for (uint32_t i = 0; i < shape->blocks; i++)
    if (table[i] > 1 && table[i] - 1u >= pool->type_count)
      fault(check, "chunk %u, block %u: no type %u", chunk, i, table[i] - 1u);
  if (nvmi_words_behind(pool, chunk, shape->class))
    fault(check, "chunk %u: the table of a span goes on behind its end", chunk);
}

/* The first of those that lie side by side is told. */
static void check_unused(struct check *check, struct nvmi_unused *unused, uint32_t chunk,
                         bool *told) {
  bool dirty = !*nvmi_chunk_word(check->pool, chunk) && nvmi_unused_is_dirty(unused, chunk);
  if (dirty && !*told)
    fault(check, "chunk %u: it was never used, and is not zero", chunk);
  *told = dirty;
}

static void check_heap(struct check *check) {
  struct nvm_pool *pool = check->pool;
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  struct nvmi_unused unused = {.pool = pool};
  bool told = false;
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    const char *wrong = nvmi_chunk_fault(pool, word, chunks - chunk);
    const char *lost = wrong ? NULL : nvmi_nameless_fault(pool, chunk);
    if (wrong || lost)
      fault(check, "chunk %u: %s (%#llx)", chunk, wrong ? wrong : lost, (unsigned long long)word);
    if (wrong)
      return;
    count = word ? (uint32_t)(word >> 32) : 1;
    nvmi_progress(chunk, chunks);
    struct nvmi_span shape = {0};
    if ((word & 0xff) == NVM_CHUNK_SMALL) {
      nvmi_span_shape(&shape, word >> 8 & 0xff);
      check_span(check, chunk, &shape);
    }
    check_unused(check, &unused, chunk, &told);
  }
  const char *lacks = nvmi_chunks_lack(pool);
  if (lacks)
    fault(check, "%s", lacks);
}

static void check_floor(struct check *check) {
  const struct nvm_floor *floor = (const void *)(check->pool->home + NVM_FLOOR_OFFSET);
  if (floor->order > NVM_ORDER_MAX)
    fault(check, "the replay floor is damaged (%#llx)", (unsigned long long)floor->order);
}

static void check_root(struct check *check) {
  const struct nvm_header *h = &check->pool->header;
  uint64_t root = *(uint64_t *)(check->pool->home + NVM_ROOT_OFFSET), offset;
  if (check->is_open)
    return;
  if (root && (!nvmi_pointer_offset(h, root, &offset) || offset < h->heap_offset ||
               offset >= h->heap_offset + h->heap_size))
    fault(check, "the root %#llx does not lie in the heap", (unsigned long long)root);
  else if (!nvmi_root_is_sound(check->pool))
    fault(check, "the root %#llx is not what its copy says", (unsigned long long)root);
}

static void report_count(void *context, uint64_t place) {
  fault(context, "references to what lies from %#llx on are not counted as they are",
        (unsigned long long)place);
}

/* Of an open pool: with what is still to be counted. */
static void check_counts(struct check *check) {
  struct nvm_pool *pool = check->pool;
  if (!pool->counts)
    return;
  nvmi_counts_drain(pool);
  if (!nvmi_counts_stale(pool->counts) && nvmi_counts_differ(pool, report_count, check) < 0)
    unreadable(check);
}

static int check_all(struct check *check) {
  check_headers(check);
  check_floor(check);
  check_logs(check);
  if (check->is_open && !check->faults && nvmi_recover(check->pool, false))
    unreadable(check);
  if (!check->is_open || !check->faults)
    check_heap(check);
  check_root(check);
  const char *counts = nvmi_counts_fault(check->pool);
  if (counts)
    fault(check, "%s", counts);
  return check->faults;
}

int nvm_pool_check(const char *path, void (*report)(void *, const char *), void *context) {
  struct nvm_pool *pool = nvmi_pool_attach(path, false);
  if (!pool)
    return -1;
  struct check check = {.pool = pool,
                        .report = report,
                        .context = context,
                        .is_open = pool->header.state == NVM_STATE_OPEN};
  uint64_t size = nvmi_file_size(&pool->header);
  void *home =
      nvmi_own_map(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, pool->fd, 0);
  if (home == MAP_FAILED) {
    nvmi_disk_fail(path, "cannot be mapped");
    nvmi_pool_detach(pool);
    return -1;
  }
  pool->home = home;
  pool->persist = nvmi_persist_process();
  if (nvmi_types_load(pool))
    unreadable(&check);
  if (nvmi_statics_start(pool))
    unreadable(&check);
  int faults = check_all(&check);
  nvmi_statics_stop(pool);
  munmap(home, size);
  nvmi_pool_detach(pool);
  return faults;
}

int nvm_pool_verify(NVM_POOL *pool, void (*report)(void *, const char *), void *context) {
  if (!pool)
    return nvmi_fail_no_pool();
  if (pool->forked)
    return nvmi_fail(NVM_ECHILD, pool->path,
                     "a forked child cannot read the file's tables; verify it in the parent");
  struct check check = {.pool = pool, .report = report, .context = context};
  if (check_all(&check) == 0)
    check_counts(&check);
  return check.faults;
}
