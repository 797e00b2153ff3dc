/* collect.c: mark and sweep: what the root does not reach is freed, and nothing else. */
#define _GNU_SOURCE
#include "gc/counts.h"
#include "heap/heap_types.h"
#include "hooks.h"
#include "moved.h"
#include "store.h"
#include "type_tables.h"

#include "nvmove/inspect.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { VERTEX_ID = 3001, BIG_ID, WAYS = 6, MANY = 3000 };

#define TAGS (UINT64_C(0xff00000000000007))

/* Everything that keeps a block. */
struct vertex {
  uint32_t number, mark;
  struct vertex *strong, *weak;
  uintptr_t tagged;
  union {
    struct vertex *pointer;
    uint64_t number;
  } guess;
  char *inside;    /* somewhere in a vertex */
  void *any;       /* to one */
  uint64_t hidden; /* a number: keeps nothing */
};

static const struct nvm_field vertex_fields[] = {
    TEST_FIELD(vertex, strong, NVM_FIELD_POINTER),
    TEST_FIELD(vertex, weak, NVM_FIELD_WEAK_POINTER),
    TEST_FIELD(vertex, tagged, NVM_FIELD_POINTER, .tag = TAGS),
    TEST_FIELD(vertex, guess, NVM_FIELD_UNION),
    TEST_FIELD(vertex, inside, NVM_FIELD_POINTER),
    TEST_FIELD(vertex, any, NVM_FIELD_POINTER)};
static const struct nvm_type vertex_type = TEST_TYPE(VERTEX_ID, vertex, vertex_fields);
static const struct nvm_type big_type = TEST_POINTER(BIG_ID, vertex, 0);
TEST_TYPES(described, &vertex_type, &big_type);
_Static_assert(sizeof(struct vertex) == 64, "fills a block of its class");

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % below;
}

/* The graph in DRAM, by number: what each vertex keeps. */
struct graph {
  unsigned count, keeps[MANY][WAYS], ways[MANY];
  bool reached[MANY];
  struct vertex *vertex[MANY];
};

static void keep(struct graph *g, unsigned from, unsigned to) {
  g->keeps[from][g->ways[from]++] = to;
}

/* Each vertex has some of the ways, each in its own kind of word. */
static void make_graph(NVM_POOL *pool, struct graph *g, unsigned count, uint64_t seed) {
  g->count = count;
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < count; i++) {
    g->vertex[i] = nvm_calloc(pool, VERTEX_ID, 1, sizeof(struct vertex));
    CHECK(g->vertex[i]);
  }
  for (unsigned i = 0; i < count; i++) {
    struct vertex made = {.number = i};
    unsigned to[WAYS + 1];
    for (unsigned way = 0; way <= WAYS; way++) {
      to[way] = (unsigned)draw(&seed, 5) ? count : (unsigned)draw(&seed, count);
      if (to[way] < count && way < WAYS)
        keep(g, i, to[way]);
    }
    struct vertex **at = g->vertex;
    made.strong = to[0] < count ? at[to[0]] : NULL;
    made.weak = to[1] < count ? at[to[1]] : NULL;
    made.tagged = to[2] < count ? (uintptr_t)at[to[2]] | (TAGS & UINT64_C(0x5a00000000000005)) : 0;
    made.guess.number = to[3] < count ? (uintptr_t)at[to[3]] : draw(&seed, 1u << 30);
    made.inside = to[4] < count ? (char *)at[to[4]] + draw(&seed, 64) : NULL;
    made.any = to[5] < count ? at[to[5]] : NULL;
    made.hidden = to[6] < count ? (uintptr_t)at[to[6]] : 0;
    store_bytes(at[i], &made, sizeof made);
  }
  CHECK(nvm_tx_commit(pool) == 0);
}

static void reach(struct graph *g, unsigned from) {
  if (from >= g->count || g->reached[from])
    return;
  g->reached[from] = true;
  for (unsigned way = 0; way < g->ways[from]; way++)
    reach(g, g->keeps[from][way]);
}

static unsigned count_reached(const struct graph *g) {
  unsigned reached = 0;
  for (unsigned i = 0; i < g->count; i++)
    reached += g->reached[i];
  return reached;
}

/* From a vertex that leads far, which this finds. */
static unsigned reach_much(struct graph *g) {
  unsigned from = 0;
  do {
    memset(g->reached, 0, sizeof g->reached);
    reach(g, from);
  } while (count_reached(g) < g->count / 10 && ++from < g->count);
  return from;
}

struct seen {
  const struct graph *graph;
  unsigned vertices, other;
};

static bool see(void *context, const struct nvm_block *block) {
  struct seen *seen = context;
  const struct vertex *vertex = block->address;
  CHECK(block->is_reachable);
  if (block->type && block->type->id == VERTEX_ID) {
    seen->vertices++;
    CHECK(seen->graph->reached[vertex->number] && seen->graph->vertex[vertex->number] == vertex);
  } else {
    seen->other++;
  }
  return true;
}

static void check_left(NVM_POOL *pool, const struct graph *g, unsigned other) {
  struct seen seen = {.graph = g};
  CHECK(nvm_pool_each_block(pool, true, see, &seen) == 0);
  CHECK(seen.vertices == count_reached(g) && seen.other == other);
}

TEST(collected_exactly) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    struct graph *g = calloc(1, sizeof *g);
    char threads[8], name[16];
    snprintf(threads, sizeof threads, "%d", 1 + (int)seed % 3);
    setenv("NVMOVE_THREADS", threads, 1);
    snprintf(name, sizeof name, "pool%d", (int)seed);
    NVM_POOL *pool = test_create(test_path(name), 1 << 20);
    make_graph(pool, g, MANY, seed + test_seed());
    nvm_pool_set_root(pool, g->vertex[reach_much(g)]);
    unsigned reached = count_reached(g);
    CHECK(reached < MANY - MANY / 10);
    struct nvm_collected collected;
    CHECK(nvm_pool_collect(pool, &collected) == 0);
    CHECK(collected.reachable_blocks == reached && collected.freed_blocks == MANY - reached);
    CHECK(collected.freed_bytes == 64 * collected.freed_blocks);
    check_left(pool, g, 0);
    CHECK(nvm_pool_collect(pool, &collected) == 0 && collected.freed_blocks == 0);
    CHECK(nvm_pool_close(pool) == 0);
    test_check_pool(test_path(name));
    free(g);
  }
}

/* By words of no type at any place, from deep inside a large block, from an array of pointers. */
/* What lies behind the end of a block that became shorter in its place is none of it. */
TEST(collected_behind_a_shorter_array) {
  enum { LONG = 36, SHORT = 34 };
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  struct nvm_collected collected;
  CHECK(nvm_tx_begin(pool) == 0);
  char **array = nvm_alloc(pool, BIG_ID, LONG * sizeof *array);
  CHECK(nvm_pool_set_root(pool, array) == 0);
  for (unsigned i = 0; i < LONG; i++)
    STORE(array[i], (char *)nvm_calloc(pool, VERTEX_ID, 1, sizeof(struct vertex)));
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_realloc(pool, array, SHORT * sizeof *array) == array);
  CHECK(nvm_free(array[SHORT - 1]) == 0);
  STORE(array[SHORT - 1], NULL);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_collect(pool, &collected) == 0 && collected.freed_blocks == LONG - SHORT);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

TEST(collected_not_what_untyped_memory_keeps) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  struct graph *g = calloc(1, sizeof *g);
  make_graph(pool, g, 100, 7);
  CHECK(nvm_tx_begin(pool) == 0);
  char *raw = nvm_calloc(pool, 0, 1, 1000), *last = nvm_calloc(pool, 0, 1, 48);
  struct vertex **big = nvm_calloc(pool, BIG_ID, 30000, sizeof *big);
  char *deep = nvm_calloc(pool, 0, 1, 200000);
  CHECK(raw && last && big && deep);
  store_bytes(raw + 12, "~", 1); /* as an address has it */
  store_bytes(raw + 13, &g->vertex[1], 8);
  store_bytes(raw + 992, &last, 8);
  store_bytes(last + 40, &big, 8);
  STORE(big[29999], (struct vertex *)(void *)(deep + 150001));
  store_bytes(deep + 199990, &g->vertex[2], 8);
  nvm_pool_set_root(pool, raw + 5);
  CHECK(nvm_tx_commit(pool) == 0);
  reach(g, 1);
  reach(g, 2);
  CHECK(nvm_pool_collect(pool, NULL) == 0);
  check_left(pool, g, 4);
  CHECK(nvm_pool_close(pool) == 0);
  free(g);
}

/* So many blocks at once that the threads give each other some. */
TEST(collected_by_several_threads) {
  setenv("NVMOVE_THREADS", "3", 1);
  for (uint64_t seed = 20; seed < 30; seed++) {
    struct graph *g = calloc(1, sizeof *g);
    char name[16];
    snprintf(name, sizeof name, "pool%d", (int)seed);
    NVM_POOL *pool = test_create(test_path(name), 1 << 20);
    make_graph(pool, g, MANY, seed);
    CHECK(nvm_tx_begin(pool) == 0);
    struct vertex **all = nvm_calloc(pool, BIG_ID, MANY, sizeof *all);
    CHECK(all && nvm_pool_set_root(pool, all) == 0);
    for (unsigned i = 0; i < MANY; i += 2) {
      STORE(all[i], g->vertex[i]);
      reach(g, i);
    }
    CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_collect(pool, NULL) == 0);
    check_left(pool, g, 1);
    CHECK(nvm_pool_close(pool) == 0);
    free(g);
  }
}

static unsigned free_chunks(NVM_POOL *pool) {
  const uint64_t *table = (const uint64_t *)(pool->home + NVM_CHUNKS_OFFSET);
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT), found = 0;
  for (uint32_t i = 0, run; i < chunks; i += run) {
    run = table[i] == NVM_CHUNK_VIRGIN ? 1 : (uint32_t)(table[i] >> 32);
    found += (table[i] & 0xff) <= NVM_CHUNK_FREE ? run : 0;
  }
  return found;
}

/* References that nobody has counted fill the pool, and tables of counts no longer fit. */
TEST(collected_while_the_heap_grows) {
  struct nvm_collected collected;
  struct vertex *last = NULL;
  NVM_POOL *pool = test_create(test_path("pool"), 8 << 20);
  CHECK(nvm_pool_count_references(pool) == 0);
  nvmi_counts_spoil(pool);
  while (free_chunks(pool) > 4) {
    CHECK(nvm_tx_begin(pool) == 0);
    for (unsigned i = 0; i < MANY; i++) {
      struct vertex *made = nvm_calloc(pool, VERTEX_ID, 1, sizeof *made);
      CHECK(made);
      STORE(made->strong, last);
      last = made;
    }
    CHECK(nvm_pool_set_root(pool, last) == 0 && nvm_tx_commit(pool) == 0);
  }
  uint64_t before = pool->header.heap_size;
  CHECK(nvm_pool_collect(pool, &collected) == 0 && collected.freed_blocks == 0);
  CHECK(pool->header.heap_size > before);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(collected_only_when_quiet_and_known) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  struct nvm_collected collected;
  CHECK(nvm_pool_collect(pool, &collected) == 0 && collected.reachable_blocks == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  CHECK(nvm_alloc(pool, VERTEX_ID, sizeof(struct vertex)));
  CHECK_FAILS(nvm_pool_collect(pool, NULL) == 0, NVM_EOPENTX);
  CHECK(nvm_tx_commit(pool) == 0);
  uint64_t before = test_blocks(pool);
  moved_fill(pool, 3);
  CHECK_FAILS(nvm_pool_collect(pool, NULL) == 0, NVM_EUNSAFE); /* exclusive or of two pointers */
  CHECK(strstr(nvm_strerror(), "field both of struct node"));
  CHECK(test_blocks(pool) > before);
  CHECK_FAILS(nvm_pool_collect(NULL, NULL) == 0, NVM_EARGUMENT);
  CHECK(nvm_pool_close(pool) == 0);
}

static pthread_barrier_t turns;

/* It has stored nothing in this transaction, and may find a block that nothing leads to at any moment. */
static void *begin_and_idle(void *pool) {
  CHECK(nvm_tx_begin(pool) == 0 && nvm_pool_set_root(pool, NULL) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  pthread_barrier_wait(&turns);
  pthread_barrier_wait(&turns);
  CHECK(nvm_tx_commit(pool) == 0);
  pthread_barrier_wait(&turns);
  pthread_barrier_wait(&turns);
  return NULL;
}

TEST(collected_only_when_others_have_begun_nothing) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  pthread_t thread;
  CHECK(pthread_barrier_init(&turns, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, begin_and_idle, pool) == 0);
  pthread_barrier_wait(&turns);
  CHECK_FAILS(nvm_pool_collect(pool, NULL) == 0, NVM_EOPENTX);
  pthread_barrier_wait(&turns);
  pthread_barrier_wait(&turns);
  CHECK(nvm_pool_collect(pool, NULL) == 0);
  pthread_barrier_wait(&turns);
  CHECK(pthread_join(thread, NULL) == 0 && nvm_pool_close(pool) == 0);
}

static NVM_POOL *looked_at;
static void arrive(void) { looked_at->parcels = 0; }

static void *commit_and_idle(void *pool) {
  CHECK(nvm_tx_begin(pool) == 0 && nvm_pool_set_root(pool, NULL) == 0 && nvm_tx_commit(pool) == 0);
  pthread_barrier_wait(&turns);
  pthread_barrier_wait(&turns);
  return NULL;
}

/* What was on its way to another thread's commit, and has arrived by the time that all stand still. */
TEST(collected_when_what_joined_has_arrived) {
  pthread_t thread;
  looked_at = test_create(test_path("pool"), 1 << 20);
  CHECK(pthread_barrier_init(&turns, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, commit_and_idle, looked_at) == 0);
  pthread_barrier_wait(&turns);
  looked_at->parcels = 1;
  CHECK_FAILS(nvm_pool_collect(looked_at, NULL) == 0, NVM_EOPENTX);
  hook_barrier = arrive;
  CHECK(nvm_pool_collect(looked_at, NULL) == 0);
  hook_barrier = NULL;
  pthread_barrier_wait(&turns);
  CHECK(pthread_join(thread, NULL) == 0 && nvm_pool_close(looked_at) == 0);
}

static void collect_again(void *path) {
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_pool_collect(pool, NULL) == 0 && nvm_pool_close(pool) == 0);
}

/* Dies at each append, then at each commit step; what is left is collected. */
TEST(collected_in_spite_of_deaths) {
  const char *path = test_path("pool"), *kinds[] = {"append", "commit"};
  unsigned deaths = 0;
  for (unsigned i = 0; i < 2; i++)
    for (unsigned n = 1, died = 1; died; n++) {
      struct graph *g = calloc(1, sizeof *g);
      char kill[32];
      snprintf(kill, sizeof kill, "%s:%u", kinds[i], n);
      remove(path);
      NVM_POOL *pool = test_create(path, 1 << 20);
      make_graph(pool, g, 1500, n);
      nvm_pool_set_root(pool, g->vertex[reach_much(g)]);
      CHECK(nvm_pool_close(pool) == 0);
      died = test_was_killed(test_child(kill, collect_again, (void *)(uintptr_t)path));
      deaths += died;
      test_check_pool(path);
      collect_again((void *)(uintptr_t)path);
      pool = test_open(path);
      struct nvm_usage usage;
      CHECK(nvm_pool_usage(pool, &usage) == 0 && usage.blocks == count_reached(g));
      CHECK(nvm_pool_close(pool) == 0);
      free(g);
    }
  CHECK(deaths > 2);
}
