/* sweeping.c: how long it takes to find what the root does not reach, and to free it: objects of 64
 * bytes in a chained hash table, a quarter of them unlinked; 1 and 2 threads. The pool is quiet
 * meanwhile: the whole of it is a pause. */
#define _GNU_SOURCE
#include "bench.h"

#include "nvmove/abi.h"
#include "nvmove/inspect.h"
#include "ours.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ENTRY_ID = 78, SLOTS_ID = 79, GROUP = 1000 };

struct entry {
  uint64_t key;
  struct entry *next;
  char value[48];
};

static const struct nvm_field entry_fields[] = {{.name = "next",
                                                 .target = ENTRY_ID,
                                                 .offset = 8,
                                                 .count = 1,
                                                 .stride = 8,
                                                 .kind = NVM_FIELD_POINTER}};
static const struct nvm_field slot_fields[] = {
    {.name = "", .target = ENTRY_ID, .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER}};
static const struct nvm_type entry_type = {.id = ENTRY_ID,
                                           .name = "struct entry",
                                           .members = "0 8 unsigned key\n8 8 pointer next\n",
                                           .size = sizeof(struct entry),
                                           .alignment = 8,
                                           .field_count = 1,
                                           .fields = entry_fields};
static const struct nvm_type slots_type = {.id = SLOTS_ID,
                                           .name = "struct entry *",
                                           .members = "0 8 pointer \n",
                                           .size = 8,
                                           .alignment = 8,
                                           .field_count = 1,
                                           .fields = slot_fields};
__attribute__((section(NVM_TYPES_SECTION),
               used)) static const struct nvm_type *const described[] = {&entry_type, &slots_type};

static NVM_POOL *fill(const char *path, uint64_t objects) {
  NVM_POOL *pool = nvm_pool_create(path, objects * 90 + ((size_t)64 << 20));
  need(pool && nvm_tx_begin(pool) == 0);
  struct entry **slots = nvm_calloc(pool, SLOTS_ID, objects, sizeof *slots);
  need(slots && nvm_pool_set_root(pool, slots) == 0 && nvm_tx_commit(pool) == 0);
  uint64_t state = 88172645463325252u;
  for (uint64_t i = 0; i < objects;) {
    need(nvm_tx_begin(pool) == 0);
    for (int j = 0; j < GROUP && i < objects; j++, i++) {
      struct entry *made = nvm_alloc(pool, ENTRY_ID, sizeof *made);
      need(made != NULL);
      __nvm_note(made, sizeof *made);
      *made = (struct entry){.key = i};
      struct entry **slot = &slots[bench_random(&state) % objects];
      if (i % 4) {
        made->next = *slot;
        STORE(*slot, made);
      }
    }
    need(nvm_tx_commit(pool) == 0);
  }
  return pool;
}

void ours_sweeping(const char *path, const struct workload *w, struct measure *result) {
  char threads[8];
  snprintf(threads, sizeof threads, "%u", w->threads);
  setenv("NVMOVE_THREADS", threads, 1);
  NVM_POOL *pool = fill(path, w->operations);
  struct nvm_collected first, second;
  double start = processor_seconds(), begun = wall_seconds();
  need(nvm_pool_collect(pool, &first) == 0);
  double freeing = processor_seconds() - start;
  result->extra[2] = wall_seconds() - begun;
  start = processor_seconds();
  need(nvm_pool_collect(pool, &second) == 0);
  result->extra[0] = (double)w->operations / freeing;
  result->extra[1] = (double)second.reachable_blocks / (processor_seconds() - start);
  if (first.freed_blocks != (w->operations + 3) / 4 || second.freed_blocks)
    printf("WRONG: freed %llu, then %llu\n", (unsigned long long)first.freed_blocks,
           (unsigned long long)second.freed_blocks);
}
