/* looks.c: where a commit looks for unsafe pointers: at the bytes that its transaction left, and at the
 * records that these lie in (judge/judge.h, judge/own_image.h).
 */
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "harness.h"
#include "judge/judge.h"
#include "store.h"
#include "type_tables.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SPREAD_ID = 3271, HEAD_ID, CELL_ID, SHARED_ID, POINTER = 1, NUMBER = 2, CELLS = 40 };
enum { MANY = 16384, LINE_WORDS = 8, LINES = 64, FEW = 12288, KIB = 1024, PEAK_MAX_KIB = 8 * KIB };

/* Pointers if `kind` says so: in its line, and in many others. */
struct spread {
  uint64_t kind;
  void *near;
  uint64_t numbers[30];
  void *many[MANY];
};
struct cell {
  void *p;
};
/* With a pointer of its own, before a flexible array of others. */
struct head {
  uint64_t kind;
  void *p;
  struct cell cells[];
};
/* Stored to without notes. */
struct shared {
  uint64_t word;
};
static const int64_t pointer[] = {POINTER};
static const struct nvm_when when = {.offset = 0, .bits = 64, .count = 1, .values = pointer};
static const struct nvm_field spread_fields[] = {TEST_FIELD(spread, near, NVM_FIELD_POINTER,
                                                            .when = &when),
                                                 TEST_FIELD(spread, many, NVM_FIELD_POINTER,
                                                            .when = &when)},
                              head_fields[] = {TEST_FIELD(head, p, NVM_FIELD_POINTER,
                                                          .when = &when),
                                               TEST_TAIL(head, cells, CELL_ID)},
                              cell_fields[] = {TEST_FIELD(cell, p, NVM_FIELD_POINTER)},
                              shared_fields[] = {TEST_VOLATILE(shared, word)};
static const struct nvm_type types[] = {
    TEST_TYPE(SPREAD_ID, spread, spread_fields), TEST_TYPE(HEAD_ID, head, head_fields),
    TEST_TYPE(CELL_ID, cell, cell_fields), TEST_TYPE(SHARED_ID, shared, shared_fields)};
TEST_TYPES(described, &types[0], &types[1], &types[2], &types[3]);

static int state; /* lost by a restart */

static struct {
  NVM_POOL *pool;
  struct spread *record;
  pthread_mutex_t lock;
  _Atomic unsigned step;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void await(unsigned step) {
  while (all.step < step)
    sched_yield();
}

static void begin(void) { CHECK(nvm_tx_begin(all.pool) == 0); }
static void commit(void) { CHECK(nvm_tx_commit(all.pool) == 0); }

static void prepare(uint64_t kind) {
  all.pool = test_create(test_path("pool"), 4 << 20);
  begin();
  all.record = nvm_calloc(all.pool, SPREAD_ID, 1, sizeof *all.record);
  CHECK(all.record && nvm_pool_set_root(all.pool, all.record) == 0);
  STORE(all.record->kind, kind);
  commit();
}

static void finish(void) { CHECK(nvm_pool_close(all.pool) == 0); }

/* The first of two transactions has released the lock: the commit is one of several. */
static void release(void) {
  pthread_mutex_lock(&all.lock);
  STORE(all.record->numbers[20], 1);
  pthread_mutex_unlock(&all.lock);
}

static pthread_t begin_two(void *(*second)(void *)) {
  pthread_t thread;
  all.step = 0;
  CHECK(pthread_create(&thread, NULL, second, NULL) == 0);
  begin();
  return thread;
}

static void *store_near_and_abort(void *unused) {
  await(1);
  begin();
  pthread_mutex_lock(&all.lock);
  STORE(all.record->near, &state);
  pthread_mutex_unlock(&all.lock);
  all.step = 2;
  await(3);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

/* What another stores in the same line is not this one's. */
TEST(unsafe_pointer_that_another_stores_beside) {
  prepare(NUMBER);
  pthread_t second = begin_two(store_near_and_abort);
  release();
  all.step = 1;
  await(2);
  STORE(all.record->kind, POINTER);
  commit();
  all.step = 3;
  CHECK(pthread_join(second, NULL) == 0 && !all.record->near);
  finish();
}

static unsigned nth(unsigned n) { return n * 27 % LINES * LINE_WORDS; }

static void *store_many_unsafe(void *unused) {
  await(1);
  begin();
  pthread_mutex_lock(&all.lock);
  for (unsigned n = 0; n < LINES; n++)
    STORE(all.record->many[nth(n)], &state);
  pthread_mutex_unlock(&all.lock);
  all.step = 2;
  await(3);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EUNSAFE);
  return unused;
}

/* What another stores over it is not, either, in whatever order that was. */
TEST(unsafe_pointers_that_another_stores_over) {
  prepare(POINTER);
  pthread_t second = begin_two(store_many_unsafe);
  pthread_mutex_lock(&all.lock);
  for (unsigned n = 0; n < LINES; n++)
    STORE(all.record->many[nth(LINES - 1 - n)], all.record);
  pthread_mutex_unlock(&all.lock);
  all.step = 1;
  await(2);
  commit();
  all.step = 3;
  CHECK(pthread_join(second, NULL) == 0);
  for (unsigned n = 0; n < LINES; n++)
    CHECK(all.record->many[nth(n)] == all.record);
  finish();
}

static void *decide_otherwise(void *unused) {
  await(1);
  begin();
  pthread_mutex_lock(&all.lock);
  STORE(all.record->kind, NUMBER);
  pthread_mutex_unlock(&all.lock);
  all.step = 2;
  await(3);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* A long range is looked at with what its own transaction has decided before. */
TEST(unsafe_pointer_in_a_range_by_an_own_decision) {
  static void *many[FEW];
  prepare(NUMBER);
  if (all.pool->method->own_bytes) /* judged as the pool has it */
    return finish();
  pthread_t second = begin_two(decide_otherwise);
  pthread_mutex_lock(&all.lock);
  STORE(all.record->kind, POINTER);
  STORE(all.record->many[MANY - 1], NULL);
  pthread_mutex_unlock(&all.lock);
  all.step = 1;
  await(2);
  many[FEW / 2] = &state;
  store_bytes(all.record->many, many, sizeof many);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EUNSAFE);
  all.step = 3;
  CHECK(pthread_join(second, NULL) == 0);
  finish();
}

static unsigned told;

static void event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                  uint64_t extra) {
  (void)pool, (void)place, (void)extra;
  told += kind == NVM_TRACE_UNSAFE;
}
static void alone(enum nvm_trace_kind kind, uint64_t extra) { (void)kind, (void)extra; }
static void stored(void *address, const void *bytes, size_t size, bool by_program) {
  (void)address, (void)bytes, (void)size, (void)by_program;
}
static void compare(const struct nvm_pool *pool) { (void)pool; }
static const struct nvmi_trace_table counting = {
    .event = event, .alone = alone, .stored = stored, .compare = compare};

/* Who looks again tells once. */
TEST(unsafe_pointer_is_told_once) {
  prepare(POINTER);
  begin();
  release();
  STORE(all.record->near, &state);
  nvmi_trace_table = &counting;
  nvmi_slow.tracing = true;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EUNSAFE);
  nvmi_slow.tracing = false;
  nvmi_trace_table = NULL;
  CHECK(told == 1);
  finish();
}

static unsigned corrected;
static bool correct(struct nvm_pool *pool, uint64_t offset, uint64_t tag) {
  corrected += (char *)&all.record->near - pool->work == (ptrdiff_t)offset && !tag;
  return true;
}
static const char *around(const void *address) { return address ? NULL : "none"; }

/* A pointer to a root of a port that has moved is set right. */
TEST(unsafe_pointer_to_a_root_is_set_right) {
  static const struct nvmi_root_hooks hooks = {.correct = correct, .around = around};
  const struct nvmi_root_hooks *before = nvmi_root_hooks;
  prepare(POINTER);
  nvmi_root_hooks = &hooks;
  begin();
  STORE(all.record->near, &state);
  commit();
  nvmi_root_hooks = before;
  CHECK(corrected == 1);
  finish();
}

static unsigned visits[2];
static enum nvm_error visit(void *context, const struct nvm_type *type, uint64_t record) {
  (void)context, (void)record;
  visits[type->id != HEAD_ID]++;
  return NVM_OK;
}

/* A record is looked at once for each of its lines; one that an array follows is one, too. */
TEST(looks_at_each_record) {
  prepare(POINTER);
  begin();
  struct head *head = nvm_calloc(all.pool, HEAD_ID, 1, sizeof *head + CELLS * sizeof(struct cell));
  struct shared *shared = nvm_calloc(all.pool, SHARED_ID, 1, sizeof *shared);
  commit();
  uint64_t at = nvmi_offset(all.pool, all.record), of_head = nvmi_offset(all.pool, head);
  struct nvmi_judge judge = {.pool = all.pool};
  uint64_t middle = (at + sizeof *all.record / 2) & ~(uint64_t)63;
  CHECK(nvmi_judge_blocks(&judge, middle, UINT64_MAX, visit, NULL) == NVM_OK);
  CHECK(visits[0] == 0 && visits[1] == 1);
  uint64_t first = of_head & ~(uint64_t)63;
  nvmi_judge_blocks(&judge, first, UINT64_C(0xff) << (of_head - first), visit, NULL);
  CHECK(visits[0] == 1);
  nvmi_judge_look_up(&judge, at);
  nvmi_judge_look_up(&judge, NVM_ROOT_OFFSET); /* no block */
  CHECK(nvmi_judge_knows(&judge, NVM_ROOT_OFFSET) && !nvmi_judge_knows(&judge, of_head));
  uint64_t word = nvmi_offset(all.pool, shared);
  CHECK(nvmi_has_volatile_at(all.pool, word, word + sizeof *shared));
  CHECK(!nvmi_has_volatile_at(all.pool, at, at + sizeof *all.record));
  finish();
}

static long kib_of(const char *what) {
  char line[200];
  long kib = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, what, strlen(what)) == 0)
      CHECK(sscanf(line + strlen(what), ": %ld", &kib) == 1);
  CHECK(file && fclose(file) == 0 && kib >= 0);
  return kib;
}

/* A look takes memory for the lines of a large record once, and gives it back. */
TEST(looks_take_little_memory) {
  enum { TIMES = 30, EARLY = 5, LEFT_MAX_KIB = 4 * (TIMES - EARLY) / 2 };
  long peak = 0, early = 0;
  prepare(POINTER);
  for (unsigned i = 0; i < TIMES; i++) {
    begin();
    release();
    for (unsigned n = 0; n < (i ? LINE_WORDS : MANY); n += LINE_WORDS)
      STORE(all.record->many[n], all.record);
    if (!i)
      peak = kib_of("VmPeak");
    commit();
    if (i == EARLY)
      early = kib_of("VmSize");
  }
  CHECK(kib_of("VmPeak") - peak < PEAK_MAX_KIB && kib_of("VmSize") - early < LEFT_MAX_KIB);
  finish();
}
