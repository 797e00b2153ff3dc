/* crew.c: several threads over all runs of a pool (words.h).
 *
 * The runs are listed first, since only a run's start says where the next begins; then each thread
 * takes the next few until none is left.
 */
#define _GNU_SOURCE
#include "types/crew.h"

#include "base/uncancelled.h"
#include "heap/heap_chunks.h"
#include "types/words.h"

#include "base/progress.h"
#include "base/settings.h"
#include "heap/heap_types.h"

#include <sched.h>
#include <stdlib.h>

enum { BATCH = 16, CHUNKS_EACH = 1024 };

struct crew {
  struct nvm_pool *pool;
  nvmi_visit_chunk *visit;
  const uint32_t *runs;
  size_t count;
  _Atomic size_t next;
};

struct member {
  struct crew *crew;
  void *context;
  pthread_t thread;
};

static void *work(void *argument) {
  const struct member *self = argument;
  struct crew *crew = self->crew;
  for (size_t from; (from = atomic_fetch_add(&crew->next, BATCH)) < crew->count;) {
    nvmi_progress(from, crew->count);
    for (size_t i = from; i < from + BATCH && i < crew->count; i++)
      crew->visit(self->context, crew->pool, crew->runs[i]);
  }
  crew->pool->persist->fence();
  return NULL;
}

static void add_run(void *runs, struct nvm_pool *pool, uint32_t chunk, uint32_t count) {
  (void)pool, (void)count;
  nvmi_array_push(runs, &chunk, sizeof chunk);
}

int nvmi_each_run(struct nvm_pool *pool, unsigned threads, nvmi_visit_chunk *visit, void *contexts,
                  size_t context_size) {
  struct nvmi_array runs = {0};
  if (nvmi_heap_ready(pool))
    return -1;
  if (!nvmi_array_reserve(&runs, pool->heap->used_end, sizeof(uint32_t)))
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for a list of its chunks");
  nvmi_heap_each_run(pool, add_run, &runs);
  struct crew crew = {.pool = pool, .visit = visit, .runs = runs.items, .count = runs.count};
  struct member members[NVMI_CREW_MAX];
  unsigned started = 1;
  for (unsigned i = 0; i < threads; i++)
    members[i] = (struct member){.crew = &crew, .context = (char *)contexts + i * context_size};
  while (started < threads &&
         pthread_create(&members[started].thread, NULL, work, &members[started]) == 0)
    started++;
  work(&members[0]);
  for (unsigned i = 1; i < started; i++)
    NVMI_UNCANCELLED(pthread_join(members[i].thread, NULL));
  nvmi_array_free(&runs, sizeof(uint32_t));
  return (int)started;
}

unsigned nvmi_crew_size(const struct nvm_pool *pool) {
  uint64_t wish = nvmi_setting_number("NVMOVE_THREADS");
  cpu_set_t processors;
  long most = wish < NVMI_CREW_MAX ? (long)wish : NVMI_CREW_MAX;
  if (!wish)
    most = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
  long worth = (long)(pool->header.heap_size >> NVM_CHUNK_SHIFT) / CHUNKS_EACH + 1;
  most = most < worth || wish ? most : worth;
  return most < NVMI_CREW_MAX ? (unsigned)most : NVMI_CREW_MAX;
}
