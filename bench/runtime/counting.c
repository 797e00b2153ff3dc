/* counting.c: what counting references costs: transactions that store W pointers each, to objects
 * of 64 bytes chosen at random, in a pool that counts and in one that does not. The thread that
 * counts is part of the process, and of its processor time; all is counted before the clock stops.
 */
#include "bench.h"

#include "nvmove/abi.h"
#include "nvmove/inspect.h"
#include "ours.h"
#include "store.h"

#include <stdlib.h>

enum { THING_ID = 80, LINKS_ID = 81, THINGS = 1 << 18, GROUP = 1024 };

struct thing {
  uint64_t bytes[8];
};

static const struct nvm_field link_fields[] = {
    {.name = "", .target = THING_ID, .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER}};
static const struct nvm_type thing_type = {.id = THING_ID,
                                           .name = "struct thing",
                                           .members = "0 64 unsigned bytes\n",
                                           .size = sizeof(struct thing),
                                           .alignment = 8};
static const struct nvm_type links_type = {.id = LINKS_ID,
                                           .name = "struct thing *",
                                           .members = "0 8 pointer \n",
                                           .size = 8,
                                           .alignment = 8,
                                           .field_count = 1,
                                           .fields = link_fields};
__attribute__((section(NVM_TYPES_SECTION),
               used)) static const struct nvm_type *const described[] = {&thing_type, &links_type};

static struct thing **fill(NVM_POOL *pool) {
  need(pool && nvm_tx_begin(pool) == 0);
  struct thing **links = nvm_calloc(pool, LINKS_ID, THINGS, sizeof *links);
  need(links && nvm_pool_set_root(pool, links) == 0 && nvm_tx_commit(pool) == 0);
  for (unsigned i = 0; i < THINGS;) {
    need(nvm_tx_begin(pool) == 0);
    for (unsigned end = i + GROUP; i < end; i++) {
      struct thing *made = nvm_alloc(pool, THING_ID, sizeof *made);
      need(made != NULL);
      STORE(links[i], made);
    }
    need(nvm_tx_commit(pool) == 0);
  }
  return links;
}

static void store_links(const char *path, const struct workload *w, struct measure *result,
                        bool counts) {
  NVM_POOL *pool = nvm_pool_create(path, (size_t)160 << 20);
  struct thing **links = fill(pool);
  uint64_t state = 88172645463325252u;
  need(!counts || nvm_pool_count_references(pool) == 0);
  bench_start();
  for (uint64_t t = 0; t < w->operations; t++) {
    need(nvm_tx_begin(pool) == 0);
    for (size_t i = 0; i < w->parameter; i++) {
      struct thing *to = links[bench_random(&state) % THINGS];
      STORE(links[bench_random(&state) % (THINGS - GROUP)], to);
    }
    need(nvm_tx_commit(pool) == 0);
  }
  need(nvm_pool_close(pool) == 0);
  bench_stop(result, w->operations * w->parameter);
}

void ours_linking(const char *path, const struct workload *w, struct measure *result) {
  store_links(path, w, result, false);
}

void ours_counting(const char *path, const struct workload *w, struct measure *result) {
  store_links(path, w, result, true);
}
