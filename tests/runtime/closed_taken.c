/* closed_taken.c: a close commits what another thread has stored outside transactions. Whatever promises that
 * thread that its stores are committed waits for the close.
 */
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 1024, NODE_ID = 3501, MOMENT = 20000 /* us */ };

struct data {
  uint64_t words[WORDS];
};

static struct {
  NVM_POOL *closed, *used;
  struct data *in_closed, *in_used;
  void (*end)(void); /* promises that all is committed */
  pthread_t closer;
  _Atomic bool stored, amid, past;
} all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct data *make(NVM_POOL **pool, const char *name) {
  *pool = test_create(test_path(name), 1 << 20);
  CHECK(nvm_tx_begin(*pool) == 0);
  struct data *data = nvm_calloc(*pool, 0, 1, sizeof *data);
  CHECK(data && nvm_pool_set_root(*pool, data) == 0 && nvm_tx_commit(*pool) == 0);
  return data;
}

static void make_both(void) {
  all.in_closed = make(&all.closed, "closed");
  all.in_used = make(&all.used, "used");
}

static void await(const _Atomic bool *flag) {
  while (!*flag)
    sched_yield();
}

/* At the first step of the close's commit. */
static void let_the_other_try(enum nvmi_step step) {
  (void)step;
  if (!all.stored || all.amid || !pthread_equal(pthread_self(), all.closer))
    return;
  all.amid = true;
  usleep(MOMENT);
  CHECK(!all.past);
}

static void *store_and_end(void *unused) {
  for (unsigned i = 0; i < WORDS; i++)
    STORE(all.in_closed->words[i], 1);
  all.stored = true;
  await(&all.amid);
  all.end();
  all.past = true;
  return unused;
}

static void begin(void) {
  CHECK(nvm_tx_begin(all.used) == 0);
  STORE(all.in_used->words[0], 1);
  CHECK(nvm_tx_commit(all.used) == 0);
}
static void enter_atomic(void) {
  __nvm_atomic_enter(__builtin_frame_address(0));
  __nvm_atomic_leave(__builtin_frame_address(0));
}
static void release(void) {
  CHECK(pthread_mutex_lock(&lock) == 0);
  CHECK(pthread_mutex_unlock(&lock) == 0);
}
static void close_other(void) { CHECK(nvm_pool_close(all.used) == 0); }
static void leave(void) { exit(0); }

static void close_amid(void *unused) {
  pthread_t thread;
  (void)unused;
  all.stored = all.amid = all.past = false;
  all.closer = pthread_self();
  hook_steps(let_the_other_try);
  CHECK(pthread_create(&thread, NULL, store_and_end, NULL) == 0);
  await(&all.stored);
  CHECK(nvm_pool_close(all.closed) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && all.amid);
  hook_steps(NULL);
}

static void close_in_child(void *unused) {
  make_both();
  all.end = leave;
  close_amid(unused);
}

static void all_is_there(void) {
  all.closed = test_open(test_path("closed"));
  const struct data *data = nvm_pool_root(all.closed);
  for (unsigned i = 0; i < WORDS; i++)
    CHECK(data->words[i] == 1);
  CHECK(nvm_pool_close(all.closed) == 0);
}

static void remove_both(void) {
  CHECK(unlink(test_path("closed")) == 0 && unlink(test_path("used")) == 0);
}

TEST(closed_while_an_owner_ends_what_was_taken) {
  static void (*const ends[])(void) = {begin,   enter_atomic, __nvm_commit_point, __nvm_split_point,
                                       release, close_other};
  for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
    make_both();
    all.end = ends[i];
    close_amid(NULL);
    if (all.end != close_other)
      CHECK(nvm_pool_close(all.used) == 0);
    all_is_there();
    remove_both();
  }
}

/* What was stored is there when the process has ended with 0. */
TEST(closed_while_an_owner_exits) {
  CHECK(test_child(NULL, close_in_child, NULL) == 0);
  all_is_there();
}

/* Who ends meanwhile is not kept from it by the close. */
static void *hand_on_and_end(void *unused) {
  __nvm_commit_point();
  CHECK(pthread_mutex_lock(&lock) == 0);
  STORE(all.in_used->words[1], 1);
  CHECK(pthread_mutex_unlock(&lock) == 0);
  all.amid = true;
  await(&all.stored);
  usleep(1000);
  return unused;
}

static void *depend_on_it(void *unused) {
  await(&all.amid);
  STORE(all.in_closed->words[0], 1);
  CHECK(pthread_mutex_lock(&lock) == 0);
  STORE(all.in_used->words[2], all.in_used->words[1]);
  all.stored = true;
  CHECK(pthread_mutex_unlock(&lock) == 0);
  return unused;
}

TEST(closed_while_what_an_owner_waits_for_ends) {
  pthread_t threads[2];
  make_both();
  CHECK(pthread_create(&threads[0], NULL, hand_on_and_end, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, depend_on_it, NULL) == 0);
  await(&all.stored);
  CHECK(nvm_pool_close(all.closed) == 0);
  for (unsigned i = 0; i < 2; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nvm_pool_close(all.used) == 0);
}

/* Of `used` a thread allocates a block, which becomes free when nobody depends on the transaction any more. */
static pthread_barrier_t barrier;
static void meet(void) { pthread_barrier_wait(&barrier); }

static void *allocate_and_abort(void *unused) {
  CHECK(pthread_mutex_lock(&lock) == 0 && nvm_tx_begin(all.used) == 0);
  STORE(all.in_used->words[0], (uintptr_t)nvm_alloc(all.used, 0, 100));
  CHECK(pthread_mutex_unlock(&lock) == 0);
  meet();
  meet();
  CHECK(nvm_tx_abort(all.used) == 0);
  meet();
  meet();
  return unused;
}

static void *depend_and_idle(void *unused) {
  __nvm_commit_point();
  meet();
  CHECK(pthread_mutex_lock(&lock) == 0);
  STORE(all.in_closed->words[0], 1);
  CHECK(pthread_mutex_unlock(&lock) == 0);
  meet();
  meet();
  meet();
  STORE(all.in_used->words[2], 1); /* may be built on the same */
  CHECK_FAILS(nvm_tx_begin(all.used) == 0, NVM_EBROKEN);
  CHECK(all.in_used->words[2] == 0);
  return unused;
}

TEST(closed_where_a_block_of_another_pool_becomes_free) {
  pthread_t threads[2];
  make_both();
  CHECK(pthread_barrier_init(&barrier, NULL, 3) == 0);
  CHECK(pthread_create(&threads[0], NULL, allocate_and_abort, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, depend_and_idle, NULL) == 0);
  meet();
  meet();
  meet();
  CHECK_FAILS(nvm_pool_close(all.closed) == 0, NVM_EBROKEN);
  meet();
  for (unsigned i = 0; i < 2; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nvm_pool_close(all.closed) == 0);
  CHECK(nvm_tx_begin(all.used) == 0 && nvm_tx_commit(all.used) == 0);
  CHECK(nvm_pool_close(all.used) == 0);
  test_check_pool(test_path("used"));
}

struct node {
  struct node *next;
};
static const struct nvm_field node_fields[] = {
    {.name = "next", .target = NODE_ID, .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER}};
static const struct nvm_type node_type = {.id = NODE_ID,
                                          .name = "struct node",
                                          .members = "",
                                          .size = sizeof(struct node),
                                          .alignment = 8,
                                          .field_count = 1,
                                          .fields = node_fields};
__attribute__((section(NVM_TYPES_SECTION),
               used)) static const struct nvm_type *const described[] = {&node_type};

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static void *store_to_both(void *node) {
  static struct node in_dram;
  STORE(all.in_used->words[0], 1);
  STORE(((struct node *)node)->next, &in_dram);
  meet();
  meet();
  if (all.end ==
      release) { /* the first one ends nothing: the thread holds another, and what a close took is known */
    CHECK(pthread_mutex_lock(&other) == 0);
    __nvm_split_point();
    release();
    CHECK(pthread_mutex_unlock(&other) == 0);
  }
  if (all.end == close_other) {
    CHECK_FAILS(nvm_pool_close(all.used) == 0, NVM_EBROKEN);
    CHECK(all.in_used->words[0] == 0);
    return NULL;
  }
  CHECK_FAILS(nvm_tx_begin(all.used) == 0, NVM_EBROKEN);
  CHECK(all.in_used->words[0] == 0);
  return NULL;
}

/* One transaction over two pools: where a close finds that the part in its pool cannot be committed, none is. */
TEST(closed_over_a_part_that_cannot_be_committed) {
  static void (*const ends[])(void) = {begin, release, close_other};
  for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
    pthread_t thread;
    make_both();
    all.end = ends[i];
    CHECK(nvm_tx_begin(all.closed) == 0);
    struct node *node = nvm_calloc(all.closed, NODE_ID, 1, sizeof *node);
    CHECK(node && nvm_tx_commit(all.closed) == 0);
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    CHECK(pthread_create(&thread, NULL, store_to_both, node) == 0);
    meet();
    CHECK_FAILS(nvm_pool_close(all.closed) == 0, NVM_EUNSAFE);
    meet();
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(nvm_pool_close(all.closed) == 0 && nvm_pool_close(all.used) == 0);
    remove_both();
  }
}

/* What a thread knows of its notes ends with the pool's life: the same addresses are noted again in the next. */
struct again {
  bool dies;
  uint64_t *block;
};

static void *store_in_each_life(void *argument) {
  struct again *again = argument;
  uint64_t bytes[WORDS / 2];
  for (uint64_t round = 1; round <= 2; round++) {
    for (unsigned i = 0; i < WORDS / 2; i++)
      bytes[i] = round;
    store_bytes(all.in_closed->words, bytes, sizeof bytes); /* in one range */
    for (unsigned i = WORDS / 2; i < WORDS - 1; i++)
      STORE(all.in_closed->words[i], round);
    if (round == 1)
      again->block = nvm_alloc(all.closed, 0, WORDS * sizeof(uint64_t));
    for (unsigned i = 0; i < WORDS; i++)
      STORE(again->block[i], round);
    if (round == 1)
      STORE(all.in_closed->words[WORDS - 1], (uintptr_t)again->block);
    meet();
    meet();
  }
  return NULL;
}

static void live_twice(void *argument) {
  struct again *again = argument;
  pthread_t thread;
  make_both();
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, store_in_each_life, again) == 0);
  meet();
  CHECK(nvm_pool_close(all.closed) == 0);
  all.closed = test_open(test_path("closed"));
  CHECK(nvm_pool_root(all.closed) == all.in_closed);
  meet();
  meet();
  if (again->dies)
    raise(SIGKILL);
  CHECK(nvm_pool_close(all.closed) == 0);
  meet();
  CHECK(pthread_join(thread, NULL) == 0 && nvm_pool_close(all.used) == 0);
}

TEST(closed_over_what_its_owner_remembers) {
  for (unsigned dies = 0; dies < 2; dies++) {
    struct again again = {.dies = dies};
    int status = test_child(NULL, live_twice, &again);
    CHECK(dies ? test_was_killed(status) : status == 0);
    all.closed = test_open(test_path("closed"));
    const struct data *data = nvm_pool_root(all.closed);
    const uint64_t *block = (const uint64_t *)data->words[WORDS - 1];
    for (unsigned i = 0; i < WORDS; i++)
      CHECK(block[i] == 2 - dies && (i == WORDS - 1 || data->words[i] == 2 - dies));
    CHECK(nvm_pool_close(all.closed) == 0);
    remove_both();
  }
}

static void *close_one(void *pool) {
  CHECK(nvm_pool_close(pool) == 0);
  return NULL;
}

/* Amid work in another pool, as a signal handler above it does. */
static void wait_for_the_other(enum nvmi_step step) {
  (void)step;
  if (!all.stored || all.amid || pthread_equal(pthread_self(), all.closer))
    return;
  all.amid = true;
  await(&all.past);
}

static void *work_in_used(void *unused) {
  STORE(all.in_closed->words[0], 1);
  begin();
  all.stored = true;
  begin();
  return unused;
}

TEST(closed_while_work_elsewhere_waits_for_another_thread) {
  pthread_t thread;
  make_both();
  all.closer = pthread_self(); /* here: the one that is waited for */
  hook_steps(wait_for_the_other);
  CHECK(pthread_create(&thread, NULL, work_in_used, NULL) == 0);
  await(&all.amid);
  pthread_t closer;
  CHECK(pthread_create(&closer, NULL, close_one, all.closed) == 0);
  usleep(MOMENT);
  CHECK(nvm_tx_begin(all.used) == 0);
  STORE(all.in_used->words[8], 1);
  CHECK(nvm_tx_commit(all.used) == 0);
  all.past = true;
  CHECK(pthread_join(closer, NULL) == 0 && pthread_join(thread, NULL) == 0);
  hook_steps(NULL);
  CHECK(nvm_pool_close(all.used) == 0);
}
