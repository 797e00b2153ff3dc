/* delayed_counted.c: references are counted in a pool whose commits do not wait for the disk: wherever
 * the machine ends, the counts are those of the transactions that are left, and of no other.
 */
#include "harness.h"
#include "sectors.h"
#include "simulation.h"
#include "store.h"
#include "type_tables.h"

#include "gc/counts.h"

#include <stddef.h>

enum { NODE_ID = 7611, LINKS_ID, NODES = 40, LINKS = 400, TRANSACTIONS = 60, STATES_MIN = 30 };

struct node {
  struct node *next;
};
static const struct nvm_field node_fields[] = {
    TEST_FIELD(node, next, NVM_FIELD_POINTER, .target = NODE_ID)};
static const struct nvm_type node_type = TEST_TYPE(NODE_ID, node, node_fields),
                             links_type = TEST_POINTER(LINKS_ID, node, 0);
TEST_TYPES(described, &node_type, &links_type);

/* All links are null but those to the nodes, so that none is freed. */
static void make_counted(const char *path) {
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct node **link = nvm_calloc(pool, LINKS_ID, LINKS, sizeof *link);
  CHECK(link && nvm_pool_set_root(pool, link) == 0);
  for (unsigned i = 0; i < NODES; i++)
    CHECK((link[i] = nvm_calloc(pool, NODE_ID, 1, sizeof *link[i])));
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_count_references(pool) == 0 && nvm_pool_close(pool) == 0);
}

/* The t-th transaction lets some links lead to the t-th node. */
static void link_nodes(const void *path) {
  NVM_POOL *pool = test_open(path);
  struct node **link = nvm_pool_root(pool);
  for (unsigned t = 0; t < TRANSACTIONS; t++) {
    CHECK(nvm_tx_begin(pool) == 0);
    for (unsigned i = 0; i < 4; i++)
      STORE(link[NODES + (7 * t + 13 * i) % (LINKS - NODES)], link[t % NODES]);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(delayed_counts_are_right) {
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DURABLE", "never", 1);
  make_counted(test_path("start"));
  struct sectors_end end = {.path = test_path("pool"),
                            .image = test_path("image"),
                            .at = 1,
                            .seed = 1 + test_seed(),
                            .run = link_nodes,
                            .argument = test_path("pool")};
  uint64_t recovered = 0;
  unsigned states = 0, step = test_is_long() ? 3 : 29;
  for (; sectors_end_machine(&end, test_path("start")); end.at += step, end.seed += 7, states++) {
    end.stride = states % 3 ? 0 : UINT32_MAX;
    NVM_POOL *pool = test_open(end.image);
    recovered += pool->counts->recovered;
    CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)end.image) == 0);
    CHECK(nvm_pool_close(pool) == 0);
    test_check_pool(end.image);
  }
  unsigned enough = test_is_long() ? STATES_MIN : STATES_MIN / 4;
  CHECK(states > enough && recovered > enough);
}
