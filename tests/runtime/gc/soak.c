/* soak.c: random links and unlinks on a graph with cycles, killed again and again: what is
 * allocated in the end is what the root leads to, exactly.
 *
 * NVMOVE_TEST_SOAK=N: so many transactions. Each process runs until one of the runtime's steps
 * kills it; the next opens the pool, compares the counts with the blocks and goes on. Blocks go by
 * their counts, cycles of them by mark and sweep. */
#define _GNU_SOURCE
#include "harness.h"
#include "simulation.h"
#include "store.h"
#include "type_tables.h"

#include "core/thread.h"
#include "nvmove/abi.h"
#include "nvmove/inspect.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
  KNOT_ID = 3201,
  HALL_ID,
  SLOTS = 1000,
  WAYS = 3,
  STEPS_MAX = 60000,
  SOAK_SHORT = 12000,
  TURNS_MAX = 60000
};

struct knot {
  struct knot *to[WAYS], *weak;
};
struct hall {
  uint64_t done; /* transactions */
  struct knot *slot[SLOTS];
};

static const struct nvm_field knot_fields[] = {TEST_FIELD(knot, to, NVM_FIELD_POINTER),
                                               TEST_FIELD(knot, weak, NVM_FIELD_WEAK_POINTER)};
static const struct nvm_field hall_fields[] = {TEST_FIELD(hall, slot, NVM_FIELD_POINTER)};
static const struct nvm_type knot_type = TEST_TYPE(KNOT_ID, knot, knot_fields),
                             hall_type = TEST_TYPE(HALL_ID, hall, hall_fields);
TEST_TYPES(described, &knot_type, &hall_type);

struct soak {
  char *path;
  uint64_t wanted, seed;
};

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % below;
}

/* One transaction: a link, an unlink, a new knot that is linked both ways; among `slots`. */
static void link_some(NVM_POOL *pool, struct hall *hall, struct knot **slots, uint64_t count,
                      uint64_t *seed) {
  struct knot **slot = &slots[draw(seed, count)], *other = slots[draw(seed, count)];
  uint64_t way = draw(seed, WAYS), back = draw(seed, WAYS), what = draw(seed, 10);
  CHECK(nvm_tx_begin(pool) == 0);
  if (hall)
    STORE(hall->done, hall->done + 1);
  if (what < 3 || !*slot) {
    struct knot *made = nvm_calloc(pool, KNOT_ID, 1, sizeof *made);
    CHECK(made);
    STORE(made->to[way], other);
    STORE(made->weak, *slot);
    if (other)
      STORE(other->to[back], made);
    STORE(*slot, made);
  } else if (what < 5) {
    STORE((*slot)->to[way], other);
  } else if (what < 8) {
    STORE((*slot)->to[way], NULL);
  } else if (what == 8) {
    STORE((*slot)->weak, other);
  } else {
    STORE(*slot, way ? (*slot)->to[way] : NULL);
  }
  CHECK(nvm_tx_commit(pool) == 0);
}

static void check(NVM_POOL *pool) {
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"verify") == 0);
  CHECK(nvm_pool_verify_pointers(pool, test_print_fault, (void *)(uintptr_t)"pointers") == 0);
}

static void run(void *argument) {
  const struct soak *soak = argument;
  NVM_POOL *pool = test_open(soak->path);
  struct hall *hall = nvm_pool_root(pool);
  uint64_t seed = soak->seed;
  check(pool);
  for (uint64_t turn = 1; hall->done < soak->wanted; turn++) {
    link_some(pool, hall, hall->slot, SLOTS, &seed);
    if (turn == TURNS_MAX)
      raise(SIGKILL);
    if (turn % 4000 == 0)
      CHECK(nvm_pool_release(pool, NULL) == 0);
    if (turn % 30000 == 0)
      CHECK(nvm_pool_collect(pool, NULL) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static NVM_POOL *make(const char *path, size_t size) {
  NVM_POOL *pool = test_create(path, size);
  CHECK(nvm_pool_count_references(pool) == 0 && nvm_tx_begin(pool) == 0);
  CHECK(nvm_pool_set_root(pool, nvm_calloc(pool, HALL_ID, 1, sizeof(struct hall))) == 0);
  CHECK(nvm_tx_commit(pool) == 0);
  return pool;
}

/* Knots that the hall leads to, by strong and weak pointers. */
static bool count_reachable(void *context, const struct nvm_block *block) {
  *(uint64_t *)context += block->is_reachable;
  return true;
}

/* What only weak pointers of a cycle keep goes in turns: mark and sweep follows them, counts do
 * not.
 */
static uint64_t free_garbage(NVM_POOL *pool) {
  struct nvm_collected collected;
  uint64_t freed, cycles = 0;
  do {
    CHECK(nvm_pool_release(pool, &freed) == 0 && nvm_pool_collect(pool, &collected) == 0);
    cycles += collected.freed_blocks;
  } while (freed || collected.freed_blocks);
  return cycles;
}

static void check_end(const struct soak *soak, unsigned kills) {
  NVM_POOL *pool = test_open(soak->path);
  uint64_t reachable = 0, before = test_blocks(pool), cycles = free_garbage(pool);
  check(pool);
  CHECK(nvm_pool_each_block(pool, true, count_reachable, &reachable) == 0);
  fprintf(stderr,
          "soak: %llu transactions, %u kills; %llu blocks, %llu of them garbage in cycles; %llu "
          "reachable, %llu allocated\n",
          (unsigned long long)((struct hall *)nvm_pool_root(pool))->done, kills,
          (unsigned long long)before, (unsigned long long)cycles, (unsigned long long)reachable,
          (unsigned long long)test_blocks(pool));
  CHECK(reachable == test_blocks(pool) && reachable > SLOTS / 2);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(soak->path);
}

TEST(soaked_counts) {
  static const char *const kinds[] = {"count", "commit", "append", "recover"};
  const char *wish = getenv("NVMOVE_TEST_SOAK");
  struct soak soak = {.path = (char *)(uintptr_t)test_path("pool"),
                      .wanted = wish ? strtoull(wish, NULL, 10) : SOAK_SHORT,
                      .seed = 11 + test_seed()};
  CHECK(nvm_pool_close(make(soak.path, 16 << 20)) == 0);
  unsigned kills = 0;
  alarm(wish ? 0 : 300);
  for (bool killed = true; killed;) {
    char kill[32];
    uint64_t steps = soak.wanted / 8 < STEPS_MAX ? soak.wanted / 8 : STEPS_MAX, dice = soak.seed;
    const char *kind = kinds[draw(&dice, 4)];
    snprintf(kill, sizeof kill, "%s:%llu", kind,
             (unsigned long long)(1 + draw(&dice, *kind == 'r' ? 3 : steps)));
    int status = test_child(kill, run, &soak);
    killed = test_was_killed(status);
    CHECK(killed || status == 0);
    kills += killed;
    soak.seed++;
  }
  check_end(&soak, kills);
}

enum { THREADS = 3, OWN = SLOTS / THREADS, TURNS = 12000 };

struct worker {
  NVM_POOL *pool;
  pthread_t thread;
  unsigned number;
};

static void *work(void *argument) {
  const struct worker *self = argument;
  struct hall *hall = nvm_pool_root(self->pool);
  uint64_t seed = 31 + self->number;
  for (unsigned i = 0; i < TURNS; i++)
    link_some(self->pool, NULL, hall->slot + (size_t)self->number * OWN, OWN, &seed);
  return NULL;
}

/* Each on slots of its own; their records lie between each other's, and are counted meanwhile. */
TEST(threads_run_counted) {
  NVM_POOL *pool = make(test_path("pool"), 16 << 20);
  struct worker workers[THREADS];
  for (unsigned round = 0; round < 2; round++) {
    for (unsigned i = 0; i < THREADS; i++) {
      workers[i] = (struct worker){.pool = pool, .number = i};
      CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
      pthread_join(workers[i].thread, NULL);
    check(pool);
    CHECK(nvm_pool_release(pool, NULL) == 0);
    check(pool);
  }
  uint64_t reachable = 0;
  free_garbage(pool);
  CHECK(nvm_pool_each_block(pool, true, count_reachable, &reachable) == 0);
  CHECK(reachable == test_blocks(pool));
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

static void prepare_few(void *path) {
  NVM_POOL *pool = make(path, 7 << 20);
  struct hall *hall = nvm_pool_root(pool);
  uint64_t seed = 3;
  for (unsigned i = 0; i < 6; i++)
    link_some(pool, hall, hall->slot, 3, &seed);
  CHECK(nvm_pool_close(pool) == 0);
}

static void link_without_power(void *cut) {
  power_arm(cut);
  NVM_POOL *pool = test_open(((const struct power_cut *)cut)->path);
  struct hall *hall = nvm_pool_root(pool);
  uint64_t seed = 3;
  for (unsigned i = 0; i < 3; i++) {
    link_some(pool, hall, hall->slot, 3, &seed);
    if (i == 1)
      nvm_pool_release(pool, NULL);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify_image(const char *image) {
  NVM_POOL *pool = test_open(image);
  check(pool);
  CHECK(nvm_pool_release(pool, NULL) == 0);
  check(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(counts_in_spite_of_power_failures_undo) {
  power_fail_everywhere("undo", prepare_few, link_without_power, verify_image);
}

TEST_ONCE(counts_in_spite_of_power_failures_shadow) {
  power_fail_everywhere("shadow", prepare_few, link_without_power, verify_image);
}
