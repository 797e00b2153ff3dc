/* lives.c: random lives of several pools: one thread closes, opens, copies and collects them, while
 * others store to those that they may use, in transactions over one pool or more and outside of any,
 * hand a lock on inside transactions, idle and end.
 *
 * Model: what a thread has in a pool is one number, in each word of its lines, and always one more
 * than before; the words of one pool, also of a larger block, are equal whenever anything ends there. `issued` and `committed` are bounds
 * of it. A sum under a lock grows by one in each transaction that takes the lock. All of the model lies in
 * memory that the test's process shares with the one that dies.
 *
 * The last pool counts references: there a block that nothing leads to any more need not be freed. */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"
#include "type_tables.h"

#include "nvmove/abi.h"
#include "nvmove/backup.h"
#include "nvmove/inspect.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  POOLS = 4,
  THREADS = 3,
  LINES = 3,
  WORDS = LINES * 8,
  BIG_WORDS = 384, /* not noted whole when it is new */
  LIVES_SHORT = 3,
  LIVES_LONG = 30,
  DEEDS_SHORT = 150,
  DEEDS_LONG = 400, /* of the thread that has the pools; then the process dies */
  POOL_SIZE = 4 << 20,
  COUNTED = POOLS - 1,
  OWN_ID = 3301,
  BIG_ID,
  HALL_ID
};

struct own {
  uint64_t words[WORDS];
};
struct big {
  uint64_t words[BIG_WORDS];
};
struct hall {
  struct own *own[THREADS]; /* blocks that their threads replace */
  struct big *big[THREADS];
  uint64_t sum;
};

static struct {
  _Atomic uint64_t issued[POOLS][THREADS], committed[POOLS][THREADS];
  _Atomic uint64_t adds_issued[POOLS], adds_committed[POOLS];
  _Atomic unsigned closes, refused, copies, life;
} *model;

static const struct nvm_field hall_fields[] = {
    {.name = "own", .count = 2 * THREADS, .stride = 8, .kind = NVM_FIELD_POINTER}};
#define TYPE(number, record)                                                                       \
  .id = number, .name = "struct " #record, .members = "", .size = sizeof(struct record),           \
  .alignment = 8
static const struct nvm_type own_type = {TYPE(OWN_ID, own)}, big_type = {TYPE(BIG_ID, big)},
                             hall_type = {TYPE(HALL_ID, hall), .field_count = 1,
                                          .fields = hall_fields};
TEST_TYPES(described, &own_type, &big_type, &hall_type);

static NVM_POOL *pools[POOLS];
static struct hall *halls[POOLS];
static pthread_mutex_t sum_locks[POOLS];
static _Atomic bool is_open[POOLS], uses[POOLS][THREADS], ends;

static uint64_t next(uint64_t *random) {
  *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
  return *random >> 33;
}

/* Whoever says that it uses a pool, and then finds it open, keeps it open. */
static bool enter(unsigned pool, unsigned thread) {
  uses[pool][thread] = true;
  if (!is_open[pool])
    uses[pool][thread] = false;
  return uses[pool][thread];
}

static void use_no_more(unsigned thread, unsigned bits) {
  for (; bits; bits &= bits - 1)
    uses[__builtin_ctz(bits)][thread] = false;
}

/* Noted as one range, by words, or in a new block. */
static void store_big(unsigned pool, unsigned thread, uint64_t value, uint64_t *random) {
  struct big *big = halls[pool]->big[thread], all;
  unsigned how = next(random) % 4;
  if (how == 0) {
    for (unsigned i = 0; i < BIG_WORDS; i++)
      all.words[i] = value;
    store_bytes(big, &all, sizeof all);
    return;
  }
  if (how == 1) {
    big = nvm_alloc(pools[pool], BIG_ID, sizeof *big);
    CHECK(big && nvm_free(halls[pool]->big[thread]) == 0);
    STORE(halls[pool]->big[thread], big);
  }
  for (unsigned i = 0; i < BIG_WORDS; i++)
    STORE(big->words[i], value);
}

static void store_own(unsigned pool, unsigned thread, uint64_t *random) {
  uint64_t value = ++model->issued[pool][thread];
  struct own *own = halls[pool]->own[thread];
  for (unsigned i = 0; i < WORDS; i++)
    STORE(own->words[i], value);
  store_big(pool, thread, value, random);
}

static void replace_own(unsigned pool, unsigned thread, bool frees) {
  struct own *old = halls[pool]->own[thread], *own = nvm_alloc(pools[pool], OWN_ID, sizeof *own);
  CHECK(own);
  memcpy(own, old, sizeof *own); /* a new block: all of it counts as noted */
  STORE(halls[pool]->own[thread], own);
  if (frees)
    CHECK(nvm_free(old) == 0);
}

static void has_own(const struct hall *hall, unsigned thread, uint64_t least, uint64_t most) {
  const struct own *own = hall->own[thread];
  CHECK(own->words[0] >= least && own->words[0] <= most);
  for (unsigned i = 1; i < WORDS; i++)
    CHECK(own->words[i] == own->words[0]);
  for (unsigned i = 0; i < BIG_WORDS; i++)
    CHECK(hall->big[thread]->words[i] == own->words[0]);
}

/* What is open outside transactions is committed by a beginning, in each pool. */
static void all_committed(unsigned thread, const uint64_t *issued) {
  for (unsigned pool = 0; pool < POOLS; pool++)
    if (model->committed[pool][thread] < issued[pool])
      model->committed[pool][thread] = issued[pool];
}

static void look_at_issued(unsigned thread, uint64_t *issued) {
  for (unsigned pool = 0; pool < POOLS; pool++)
    issued[pool] = model->issued[pool][thread];
}

/* In the pools of these bits, which it uses. */
static void transact(unsigned thread, unsigned bits, uint64_t *random) {
  NVM_POOL *first = pools[__builtin_ctz(bits)];
  uint64_t issued[POOLS], added = 0;
  bool aborts = next(random) % 6 == 0, early = next(random) % 2;
  look_at_issued(thread, issued);
  CHECK(nvm_tx_begin(first) == 0);
  all_committed(thread, issued);
  for (unsigned left = bits; left; left &= left - 1) {
    unsigned pool = (unsigned)__builtin_ctz(left);
    if (next(random) % 3 == 0)
      replace_own(pool, thread, pool != COUNTED || next(random) % 2);
    store_own(pool, thread, random);
  }
  if (!aborts && next(random) % 2) {
    unsigned pool = (unsigned)__builtin_ctz(bits);
    CHECK(pthread_mutex_lock(&sum_locks[pool]) == 0);
    model->adds_issued[pool]++;
    added = 1;
    STORE(halls[pool]->sum, halls[pool]->sum + 1);
    if (early)
      CHECK(pthread_mutex_unlock(&sum_locks[pool]) == 0);
  }
  if (aborts) {
    CHECK(nvm_tx_abort(first) == 0);
    for (unsigned left = bits; left; left &= left - 1) {
      unsigned pool = (unsigned)__builtin_ctz(left);
      has_own(halls[pool], thread, issued[pool], issued[pool]);
      model->issued[pool][thread] = issued[pool];
    }
    return;
  }
  look_at_issued(thread, issued);
  CHECK(nvm_tx_commit(first) == 0);
  all_committed(thread, issued);
  if (added)
    model->adds_committed[__builtin_ctz(bits)]++;
  if (added && !early)
    CHECK(pthread_mutex_unlock(&sum_locks[__builtin_ctz(bits)]) == 0);
}

/* Thread 0 passes commit points: what it did under a lock would hold others up until the next one. Others
 * may learn that the pools are used no longer before the release, which commits, is over. */
static void store_outside(unsigned thread, unsigned bits, bool locks, uint64_t *random) {
  pthread_mutex_t *lock = &sum_locks[__builtin_ctz(bits)];
  locks = locks && thread != 0;
  if (locks)
    CHECK(pthread_mutex_lock(lock) == 0);
  for (unsigned left = bits; left; left &= left - 1)
    store_own((unsigned)__builtin_ctz(left), thread, random);
  use_no_more(thread, bits);
  if (locks)
    CHECK(pthread_mutex_unlock(lock) == 0);
}

static void one_step(unsigned thread, uint64_t *random) {
  unsigned bits = 0, how = next(random) % 4;
  for (unsigned pool = 0; pool < POOLS; pool++)
    if (next(random) % 2 && enter(pool, thread))
      bits |= 1u << pool;
  if (bits && how < 2) {
    store_outside(thread, bits, how, random);
  } else if (bits) {
    transact(thread, bits, random);
    use_no_more(thread, bits);
  }
  if (thread == 0 && next(random) % 8 == 0)
    __nvm_commit_point();
  if (next(random) % 32 == 0)
    usleep(200);
}

static void *live(void *number) {
  unsigned thread = (unsigned)(uintptr_t)number, steps;
  uint64_t random = (uint64_t)getpid() * 16 + thread + (model->closes << 20);
  for (steps = 20 + next(&random) % 100; steps && !ends; steps--)
    one_step(thread, &random);
  return NULL;
}

static void open_one(unsigned pool, bool makes) {
  char name[16];
  snprintf(name, sizeof name, "pool%u", pool);
  pools[pool] = makes ? test_create(test_path(name), POOL_SIZE) : test_open(test_path(name));
  if (makes) {
    CHECK(nvm_tx_begin(pools[pool]) == 0);
    halls[pool] = nvm_calloc(pools[pool], HALL_ID, 1, sizeof(struct hall));
    for (unsigned i = 0; i < THREADS; i++) {
      struct own *own = nvm_calloc(pools[pool], OWN_ID, 1, sizeof *own);
      struct big *big = nvm_calloc(pools[pool], BIG_ID, 1, sizeof *big);
      CHECK(own && big);
      STORE(halls[pool]->own[i], own);
      STORE(halls[pool]->big[i], big);
    }
    CHECK(nvm_pool_set_root(pools[pool], halls[pool]) == 0 && nvm_tx_commit(pools[pool]) == 0);
    CHECK(pool != COUNTED || nvm_pool_count_references(pools[pool]) == 0);
  }
  halls[pool] = nvm_pool_root(pools[pool]);
  CHECK(halls[pool]);
}

static void shut(unsigned pool) {
  is_open[pool] = false;
  for (unsigned i = 0; i < THREADS; i++)
    while (uses[pool][i])
      usleep(10);
}

/* All that was stored to the pool is there again. */
static void close_and_open(unsigned pool) {
  shut(pool);
  if (nvm_pool_close(pools[pool]) != 0) {
    CHECK(nvm_errno() == NVM_EOPENTX); /* a thread has handed something on, here and in another */
    model->refused++;
    is_open[pool] = true;
    return;
  }
  model->closes++;
  for (unsigned i = 0; i < THREADS; i++)
    model->committed[pool][i] = model->issued[pool][i];
  open_one(pool, false);
  for (unsigned i = 0; i < THREADS; i++)
    has_own(halls[pool], i, model->issued[pool][i], model->issued[pool][i]);
  CHECK(halls[pool]->sum == model->adds_issued[pool] &&
        halls[pool]->sum == model->adds_committed[pool]);
  is_open[pool] = true;
}

/* The copy has what was committed before, and the pool goes on. */
static void copy(unsigned pool) {
  uint64_t least[THREADS], adds = model->adds_committed[pool];
  for (unsigned i = 0; i < THREADS; i++)
    least[i] = model->committed[pool][i];
  CHECK(nvm_pool_backup(pools[pool], test_path("copy"), NULL) == 0);
  NVM_POOL *made = test_open(test_path("copy"));
  const struct hall *hall = nvm_pool_root(made);
  for (unsigned i = 0; i < THREADS; i++)
    has_own(hall, i, least[i], UINT64_MAX);
  CHECK(hall->sum >= adds);
  CHECK(nvm_pool_close(made) == 0 && unlink(test_path("copy")) == 0);
  model->copies++;
}

/* Nothing is garbage, or nothing any more. */
static void collect(unsigned pool) {
  struct nvm_collected collected;
  shut(pool);
  if ((pool != COUNTED || nvm_pool_release(pools[pool], NULL) == 0) &&
      nvm_pool_collect(pools[pool], &collected) == 0)
    CHECK(collected.freed_blocks == 0);
  else
    CHECK(nvm_errno() == NVM_EOPENTX); /* outside transactions */
  is_open[pool] = true;
}

static void fork_one(void) {
  pid_t child = fork();
  if (!child)
    _exit(0);
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
}

static void deed(uint64_t *random) {
  unsigned pool = next(random) % POOLS, what = next(random) % 16;
  if (what < 9)
    close_and_open(pool);
  else if (what == 9)
    copy(pool);
  else if (what == 10)
    collect(pool);
  else if (what == 11)
    fork_one();
  else
    usleep(next(random) % 300);
}

static void start(pthread_t *threads, unsigned thread) {
  CHECK(pthread_create(&threads[thread], NULL, live, (void *)(uintptr_t)thread) == 0);
}

/* Ends with a death in the midst of it, or, each third one, with a close of all. */
static void one_life(void *unused) {
  uint64_t random = test_seed() * 1000 + model->life;
  pthread_t threads[THREADS];
  (void)unused;
  for (unsigned pool = 0; pool < POOLS; pool++) {
    open_one(pool, false);
    is_open[pool] = true;
  }
  for (unsigned i = 0; i < THREADS; i++)
    start(threads, i);
  for (unsigned deeds = test_is_long() ? DEEDS_LONG : DEEDS_SHORT; deeds--;) {
    deed(&random);
    for (unsigned i = 0; i < THREADS; i++)
      if (pthread_tryjoin_np(threads[i], NULL) == 0)
        start(threads, i);
  }
  if (model->life % 3 != 2)
    raise(SIGKILL);
  ends = true;
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  for (unsigned pool = 0; pool < POOLS; pool++)
    close_and_open(pool);
  for (unsigned pool = 0; pool < POOLS; pool++)
    CHECK(nvm_pool_close(pools[pool]) == 0);
}

/* The model goes on with what is there. */
static void find_all_that_was_committed(void) {
  for (unsigned pool = 0; pool < POOLS; pool++) {
    open_one(pool, false);
    for (unsigned i = 0; i < THREADS; i++) {
      has_own(halls[pool], i, model->committed[pool][i], model->issued[pool][i]);
      model->issued[pool][i] = model->committed[pool][i] = halls[pool]->own[i]->words[0];
    }
    CHECK(halls[pool]->sum >= model->adds_committed[pool]);
    CHECK(halls[pool]->sum <= model->adds_issued[pool]);
    model->adds_issued[pool] = model->adds_committed[pool] = halls[pool]->sum;
    CHECK(nvm_pool_close(pools[pool]) == 0);
  }
}

TEST(lives_of_several_pools) {
  model = mmap(NULL, sizeof *model, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(model != MAP_FAILED);
  for (unsigned pool = 0; pool < POOLS; pool++) {
    pthread_mutex_init(&sum_locks[pool], NULL);
    open_one(pool, true);
    CHECK(nvm_pool_close(pools[pool]) == 0);
  }
  for (; model->life < (test_is_long() ? LIVES_LONG : LIVES_SHORT); model->life++) {
    int status = test_child(NULL, one_life, NULL);
    CHECK(model->life % 3 == 2 ? status == 0 : test_was_killed(status));
    find_all_that_was_committed();
  }
  CHECK(model->closes > model->refused && model->copies);
}
