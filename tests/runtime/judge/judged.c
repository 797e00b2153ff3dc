/* judged.c: who is told of an unsafe pointer where several transactions store to the same word. */
#include "harness.h"
#include "store.h"
#include "type_tables.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 512, PAIR_ID = 1003 };
struct pair {
  void *next;
  uint64_t number;
  void *many[MANY];
};
static const struct nvm_field fields[] = {
    TEST_FIELD(pair, next, NVM_FIELD_POINTER, .target = PAIR_ID),
    TEST_FIELD(pair, many, NVM_FIELD_POINTER, .target = PAIR_ID)};
static const struct nvm_type pair_type = TEST_TYPE(PAIR_ID, pair, fields);
TEST_TYPES(described, &pair_type);

static int state = 1; /* lost by a restart */

static struct judged {
  NVM_POOL *pool;
  struct pair *record;
  pthread_mutex_t mutex;
  void *first, *second; /* what each stores */
  enum nvm_error expected;
  _Atomic unsigned step;
} judged = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *store_second(void *unused) {
  (void)unused;
  CHECK(nvm_tx_begin(judged.pool) == 0);
  pthread_mutex_lock(&judged.mutex);
  STORE(judged.record->next, judged.second);
  judged.step = 1;
  while (judged.step < 2)
    sched_yield();
  if (judged.expected)
    CHECK_FAILS(nvm_tx_commit(judged.pool) == 0, judged.expected);
  else
    CHECK(nvm_tx_commit(judged.pool) == 0);
  pthread_mutex_unlock(&judged.mutex);
  return NULL;
}

static void *clear_many(void *unused) {
  static const char zeros[sizeof(struct pair)];
  (void)unused;
  CHECK(nvm_tx_begin(judged.pool) == 0);
  pthread_mutex_lock(&judged.mutex);
  store_bytes(judged.record->many, zeros, sizeof judged.record->many);
  judged.step = 1;
  while (judged.step < 2)
    sched_yield();
  CHECK_FAILS(nvm_tx_commit(judged.pool) == 0, NVM_EBROKEN);
  pthread_mutex_unlock(&judged.mutex);
  return NULL;
}

/* One stores, releases the lock and goes on; the other stores to the same word. Gives what the
 * commit of the first fails with. */
static enum nvm_error store_both(void *first, void *second, enum nvm_error second_fails) {
  judged = (struct judged){.pool = judged.pool,
                           .record = judged.record,
                           .mutex = PTHREAD_MUTEX_INITIALIZER,
                           .first = first,
                           .second = second,
                           .expected = second_fails};
  pthread_t other;
  CHECK(nvm_tx_begin(judged.pool) == 0);
  pthread_mutex_lock(&judged.mutex);
  STORE(judged.record->next, first);
  pthread_mutex_unlock(&judged.mutex);
  CHECK(pthread_create(&other, NULL, store_second, NULL) == 0);
  while (judged.step < 1)
    sched_yield();
  enum nvm_error error = nvm_tx_commit(judged.pool) ? nvm_errno() : NVM_OK;
  judged.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  return error;
}

/* Each transaction is judged by what it stored itself. */
TEST(unsafe_pointer_of_a_dependent) {
  judged.pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(judged.pool) == 0);
  judged.record = nvm_calloc(judged.pool, PAIR_ID, 1, sizeof(struct pair));
  CHECK(nvm_pool_set_root(judged.pool, judged.record) == 0 && nvm_tx_commit(judged.pool) == 0);
  void *safe = judged.record;
  CHECK(store_both(safe, &state, NVM_EUNSAFE) == NVM_OK && judged.record->next == safe);
  CHECK(store_both(&state, NULL, NVM_EBROKEN) == NVM_EUNSAFE);
  CHECK(strstr(nvm_strerror(), "next") && judged.record->next == safe);
  CHECK(store_both(NULL, safe, NVM_OK) == NVM_OK && judged.record->next == safe);
  CHECK(nvm_pool_close(judged.pool) == 0);
}

/* In a block of its own, whose first stores have no entries, and in words of a long range. */
static void hand_on_unsafe(bool is_new) {
  NVM_POOL *pool = judged.pool;
  void *many[MANY] = {0};
  judged.step = 0;
  judged.second = NULL;
  judged.expected = NVM_EBROKEN;
  CHECK(nvm_tx_begin(pool) == 0);
  pthread_mutex_lock(&judged.mutex);
  if (is_new)
    judged.record = nvm_calloc(pool, PAIR_ID, 1, sizeof(struct pair));
  many[MANY / 2] = &state;
  store_bytes(judged.record->many, many, sizeof many);
  pthread_mutex_unlock(&judged.mutex);
  pthread_t other;
  CHECK(pthread_create(&other, NULL, clear_many, NULL) == 0);
  while (judged.step < 1)
    sched_yield();
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
  CHECK(strstr(nvm_strerror(), "many"));
  judged.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
}

TEST(unsafe_pointer_that_a_dependent_stores_over) {
  judged.pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(judged.pool) == 0);
  struct pair *old = nvm_calloc(judged.pool, PAIR_ID, 1, sizeof(struct pair));
  CHECK(nvm_pool_set_root(judged.pool, old) == 0 && nvm_tx_commit(judged.pool) == 0);
  hand_on_unsafe(true);
  judged.record = old;
  hand_on_unsafe(false);
  for (unsigned i = 0; i < MANY; i++)
    CHECK(!old->many[i]);
  CHECK(nvm_pool_close(judged.pool) == 0);
}

/* What a transaction stored before it released a lock, and mended itself, is no fault. */
TEST(unsafe_pointer_that_is_mended_after_a_release) {
  judged.pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(judged.pool) == 0);
  struct pair *record = nvm_calloc(judged.pool, PAIR_ID, 1, sizeof(struct pair));
  CHECK(nvm_pool_set_root(judged.pool, record) == 0 && nvm_tx_commit(judged.pool) == 0);
  CHECK(nvm_tx_begin(judged.pool) == 0);
  pthread_mutex_lock(&judged.mutex);
  STORE(record->next, (void *)&state);
  pthread_mutex_unlock(&judged.mutex);
  pthread_mutex_lock(&judged.mutex);
  STORE(record->next, NULL);
  pthread_mutex_unlock(&judged.mutex);
  CHECK(nvm_tx_commit(judged.pool) == 0 && nvm_errno() != NVM_EUNSAFE);
  CHECK(nvm_pool_close(judged.pool) == 0);
}

/* Words of a few lines, stored again and again with releases between: the last of each counts. */
TEST(unsafe_pointer_is_the_last_of_its_word) {
  enum { ROUNDS = 300, WORDS = 24 };
  unsigned seed = 1 + (unsigned)test_seed();
  judged.pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(judged.pool) == 0);
  struct pair *record = nvm_calloc(judged.pool, PAIR_ID, 1, sizeof(struct pair));
  CHECK(nvm_pool_set_root(judged.pool, record) == 0 && nvm_tx_commit(judged.pool) == 0);
  for (unsigned round = 0; round < ROUNDS; round++) {
    bool unsafe = false;
    CHECK(nvm_tx_begin(judged.pool) == 0);
    for (unsigned releases = 1 + rand_r(&seed) % 5; releases; releases--) {
      pthread_mutex_lock(&judged.mutex);
      for (unsigned stores = rand_r(&seed) % 8; stores; stores--)
        STORE(record->many[rand_r(&seed) % WORDS],
              rand_r(&seed) % 6 ? (void *)record : (void *)&state);
      pthread_mutex_unlock(&judged.mutex);
    }
    for (unsigned mended = rand_r(&seed) % WORDS, i = 0; i < mended; i++)
      STORE(record->many[i], NULL);
    for (unsigned i = 0; i < WORDS; i++)
      unsafe |= record->many[i] == &state;
    if (unsafe)
      CHECK_FAILS(nvm_tx_commit(judged.pool) == 0, NVM_EUNSAFE);
    else
      CHECK(nvm_tx_commit(judged.pool) == 0);
  }
  CHECK(nvm_pool_close(judged.pool) == 0);
}

enum { CYCLE = 3, CYCLE_ROUNDS = 20 };
static struct cycle {
  NVM_POOL *pool;
  struct pair *record;
  pthread_mutex_t mutex[3];
  pthread_barrier_t barrier;
  unsigned delay[CYCLE]; /* us, before each commit */
} cycle;

static void *read_under(unsigned lock) {
  pthread_mutex_lock(&cycle.mutex[lock]);
  void *next = cycle.record->next;
  pthread_mutex_unlock(&cycle.mutex[lock]);
  return next;
}

static void store_under(unsigned lock, void *value) {
  pthread_mutex_lock(&cycle.mutex[lock]);
  STORE(cycle.record->next, value);
  pthread_mutex_unlock(&cycle.mutex[lock]);
}

static void number_under(unsigned lock) {
  pthread_mutex_lock(&cycle.mutex[lock]);
  STORE(cycle.record->number, cycle.record->number + 1);
  pthread_mutex_unlock(&cycle.mutex[lock]);
}

/* The first stores last, and an unsafe pointer; the second stored to the word before; the third did
 * not, and links them to a cycle. */
static void *commit_in_cycle(void *argument) {
  unsigned me = (unsigned)(uintptr_t)argument;
  CHECK(nvm_tx_begin(cycle.pool) == 0);
  if (me == 0)
    store_under(0, cycle.record);
  if (me == 2)
    number_under(2), number_under(0);
  pthread_barrier_wait(&cycle.barrier);
  if (me == 1)
    number_under(0), store_under(1, cycle.record);
  pthread_barrier_wait(&cycle.barrier);
  if (me == 0)
    store_under(1, (void *)&state), number_under(2);
  pthread_barrier_wait(&cycle.barrier);
  if (me == 2)
    number_under(1);
  pthread_barrier_wait(&cycle.barrier);
  usleep(cycle.delay[me]);
  if (nvm_tx_commit(cycle.pool) != 0)
    CHECK(nvm_errno() == NVM_EUNSAFE || nvm_errno() == NVM_EBROKEN);
  return read_under(0);
}

/* In a cycle of commits nobody is later than the others: none leaves the word to another. */
TEST(unsafe_pointer_in_a_cycle) {
  cycle.pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(cycle.pool) == 0);
  cycle.record = nvm_calloc(cycle.pool, PAIR_ID, 1, sizeof(struct pair));
  CHECK(nvm_pool_set_root(cycle.pool, cycle.record) == 0 && nvm_tx_commit(cycle.pool) == 0);
  for (unsigned i = 0; i < 3; i++)
    pthread_mutex_init(&cycle.mutex[i], NULL);
  pthread_barrier_init(&cycle.barrier, NULL, CYCLE);
  for (unsigned round = 0; round < CYCLE_ROUNDS; round++) {
    pthread_t threads[CYCLE];
    for (unsigned i = 0; i < CYCLE; i++) {
      cycle.delay[i] = (round * 7 + i * 5) % 3 * 2000;
      CHECK(pthread_create(&threads[i], NULL, commit_in_cycle, (void *)(uintptr_t)i) == 0);
    }
    for (unsigned i = 0; i < CYCLE; i++)
      CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(cycle.record->next != (void *)&state);
  }
  CHECK(nvm_pool_close(cycle.pool) == 0);
}

/* Two that wait for each other: one stores over the other's word, and gets it back or not. */
struct turns {
  void *values[3]; /* of the first, the second, the first again (0: it does not) */
  enum nvm_error fails[2];
};

static struct turns turns;

static void *store_in_turns(void *argument) {
  unsigned me = (unsigned)(uintptr_t)argument;
  CHECK(nvm_tx_begin(cycle.pool) == 0);
  if (me == 0)
    store_under(0, turns.values[0]);
  pthread_barrier_wait(&cycle.barrier);
  if (me == 1)
    store_under(0, turns.values[1]);
  pthread_barrier_wait(&cycle.barrier);
  if (me == 0 && turns.values[2])
    store_under(0, turns.values[2]);
  else if (me == 0)
    number_under(0);
  pthread_barrier_wait(&cycle.barrier);
  usleep(cycle.delay[me]);
  if (turns.fails[me])
    CHECK_FAILS(nvm_tx_commit(cycle.pool) == 0, turns.fails[me]);
  else
    CHECK(nvm_tx_commit(cycle.pool) == 0);
  return NULL;
}

/* Told of it is who stored it, whoever comes first to its commit. */
TEST(unsafe_pointer_of_one_in_a_cycle) {
  cycle.pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(cycle.pool) == 0);
  void *safe = cycle.record = nvm_calloc(cycle.pool, PAIR_ID, 1, sizeof(struct pair));
  CHECK(nvm_pool_set_root(cycle.pool, safe) == 0 && nvm_tx_commit(cycle.pool) == 0);
  pthread_mutex_init(&cycle.mutex[0], NULL);
  pthread_barrier_init(&cycle.barrier, NULL, 2);
  const struct turns all[] = {
      {{safe, &state, NULL}, {NVM_EBROKEN, NVM_EUNSAFE}},
      {{safe, safe, &state}, {NVM_EUNSAFE, NVM_EBROKEN}},
      {{safe, &state, safe}, {NVM_EBROKEN, NVM_EUNSAFE}},
      {{&state, safe, safe}, {NVM_OK, NVM_OK}},
  };
  for (unsigned round = 0; round < 2 * sizeof all / sizeof *all; round++) {
    pthread_t threads[2];
    turns = all[round / 2];
    cycle.delay[round % 2] = 20000;
    cycle.delay[1 - round % 2] = 0;
    for (unsigned i = 0; i < 2; i++)
      CHECK(pthread_create(&threads[i], NULL, store_in_turns, (void *)(uintptr_t)i) == 0);
    for (unsigned i = 0; i < 2; i++)
      CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(cycle.record->next == (turns.fails[0] ? NULL : safe));
  }
  CHECK(nvm_pool_close(cycle.pool) == 0);
}

static off_t size_of_pool(void) {
  struct stat status;
  CHECK(stat(test_path("pool"), &status) == 0);
  return status.st_size;
}

/* A release makes the transaction forget what may hold pointers; else its log would grow with each.
 */
TEST(releases_that_forget_no_plain_bytes) {
  enum { ROUNDS = 100, BYTES = 100000 };
  static char plain[BYTES];
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  CHECK(nvm_tx_begin(pool) == 0);
  struct pair *pair = nvm_calloc(pool, PAIR_ID, 1, sizeof *pair);
  char *bytes = nvm_calloc(pool, 0, 1, BYTES);
  uint64_t *word = nvm_calloc(pool, 0, 1, sizeof *word);
  CHECK(pair && bytes && word && nvm_tx_commit(pool) == 0);
  off_t size = 0;
  CHECK(nvm_tx_begin(pool) == 0);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    pthread_mutex_lock(&mutex);
    memset(plain, (int)round, BYTES);
    store_bytes(bytes, plain, BYTES);
    STORE(*word, round);
    STORE(pair->number, round);
    pthread_mutex_unlock(&mutex);
    size = round ? size : size_of_pool();
  }
  CHECK(size_of_pool() == size);
  CHECK(nvm_tx_abort(pool) == 0 && !*word && !bytes[0] && !bytes[BYTES - 1] && !pair->number);
  CHECK(nvm_pool_close(pool) == 0);
}
