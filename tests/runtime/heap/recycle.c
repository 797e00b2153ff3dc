/* recycle.c: the power fails while runs of chunks change their use: blocks of one size are freed,
 * others take their place, logs grow into what is left.
 *
 * In a pool that holds one generation of blocks and no more: an odd transaction fills it with
 * blocks of one size, the next frees them all; every third one writes so much that its log needs
 * another segment. NVMOVE_TEST_EVERY=1 fails at every event, else at a sample.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "heap/heap_types.h"
#include "simulation.h"
#include "sparse.h"
#include "store.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 400, BYTES = 500000, WORDS = 6000, BEGIN = 14, END = 22 };

struct root {
  uint64_t done, count;
  uint64_t *blocks[SLOTS];
  uint64_t words[WORDS];
};

struct recycling {
  struct power_cut cut;
  struct progress *progress;
  uint64_t end;
};

static const size_t sizes[] = {1500, 70000, 9000, 3000, 130000, 30000};

static size_t size_at(uint64_t t) { return sizes[t / 2 % (sizeof sizes / sizeof *sizes)]; }

static void fill(NVM_POOL *pool, struct root *root, uint64_t t) {
  size_t size = size_at(t);
  uint64_t count = BYTES / size;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t *block = nvm_alloc(pool, 0, size);
    CHECK(block != NULL);
    STORE(block[0], t);
    STORE(block[size / 8 - 1], t + i);
    STORE(root->blocks[i], block);
  }
  STORE(root->count, count);
}

static void run(void *argument) {
  const struct recycling *r = argument;
  if (r->cut.at)
    power_arm(&r->cut);
  bool is_new = access(r->cut.path, F_OK) != 0;
  NVM_POOL *pool = is_new ? test_create(r->cut.path, 1 << 20) : test_open(r->cut.path);
  if (is_new) {
    CHECK(nvm_tx_begin(pool) == 0);
    void *fresh = nvm_calloc(pool, 0, 1, sizeof(struct root));
    CHECK(fresh && nvm_pool_set_root(pool, fresh) == 0 && nvm_tx_commit(pool) == 0);
  }
  struct root *root = nvm_pool_root(pool);
  for (uint64_t t = root->done + 1; t <= r->end; t++) {
    CHECK(nvm_tx_begin(pool) == 0);
    if (t % 2)
      fill(pool, root, t);
    else
      for (uint64_t i = 0; i < root->count; i++)
        CHECK(nvm_free(root->blocks[i]) == 0);
    if (t % 3 == 0)
      for (unsigned i = 0; i < WORDS; i += 16)
        STORE(root->words[i], t);
    STORE(root->done, t);
    CHECK(nvm_tx_commit(pool) == 0);
    r->progress->acknowledged = t;
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify(const char *path, uint64_t acknowledged) {
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  uint64_t t = root->done, count = t % 2 ? BYTES / size_at(t) : 0;
  CHECK(t == acknowledged || t == acknowledged + 1);
  for (unsigned i = 0; i < WORDS; i += 16)
    CHECK(root->words[i] == t / 3 * 3);
  for (uint64_t i = 0; i < count; i++) {
    CHECK(nvm_usable_size(root->blocks[i]) >= size_at(t));
    CHECK(root->blocks[i][0] == t && root->blocks[i][size_at(t) / 8 - 1] == t + i);
  }
  CHECK(test_blocks(pool) == count + 1);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

static void power_fails(const char *method) {
  setenv("NVMOVE_METHOD", method, 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  const char *start = test_path("start");
  struct recycling r = {{.path = start}, progress_new(), BEGIN};
  CHECK(test_child(NULL, run, &r) == 0);
  unsigned stride = getenv("NVMOVE_TEST_EVERY") ? 1 : test_is_long() ? 9 : 47, states = 0;
  r.end = END;
  r.cut = (struct power_cut){
      .path = test_path("pool"), .image = test_path("image"), .seed = 1 + test_seed()};
  for (r.cut.at = 1;; r.cut.at += stride, r.cut.seed++, states++) {
    sparse_copy(start, r.cut.path);
    r.progress->acknowledged = BEGIN;
    int status = test_child(NULL, run, &r);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
    if (WEXITSTATUS(status) == 0)
      break;
    verify(r.cut.image, r.progress->acknowledged);
  }
  CHECK(states > (test_is_long() ? 100 : 19));
  if (stride == 1)
    printf("%u states\n", states);
}

TEST_ONCE(power_failure_recycling_undo) { power_fails("undo"); }

TEST_ONCE(power_failure_recycling_shadow) { power_fails("shadow"); }
