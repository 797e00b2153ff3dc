/* decided.c: pointers that are such because another member says so, and blocks that somebody else
 * frees: who stored an unsafe pointer is told, whatever others did meanwhile.
 */
#include "alloc/block_alloc.h"
#include "alloc/block_quick.h"
#include "harness.h"
#include "heap/heap.h"
#include "store.h"
#include "type_tables.h"

#include "nvmove/inspect.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

enum { VAR_ID = 1031, ROW_ID, POINTER = 1, NUMBER = 2, CELLS = 3 };

struct var {
  uint64_t numbers[5];
  uint64_t kind;
  uint64_t more[4];
  struct var *p; /* where kind says so; in another line than that */
};
/* A flexible array of such ones. */
struct row {
  uint64_t count;
  struct cell {
    uint64_t kind;
    void *p;
  } cells[];
};
static const int64_t pointers[] = {POINTER};
static const struct nvm_when when = {
    .offset = offsetof(struct var, kind), .bits = 64, .count = 1, .values = pointers};
static const struct nvm_when cell_when = {
    .offset = offsetof(struct cell, kind), .bits = 64, .count = 1, .values = pointers};
static const struct nvm_field var_fields[] = {TEST_FIELD(var, p, NVM_FIELD_POINTER,
                                                         .target = VAR_ID, .when = &when)},
                              cell_fields[] = {TEST_FIELD(cell, p, NVM_FIELD_POINTER,
                                                          .when = &cell_when)},
                              row_fields[] = {TEST_TAIL(row, cells, ROW_ID + 1)};
static const struct nvm_type types[] = {TEST_TYPE(VAR_ID, var, var_fields),
                                        TEST_TYPE(ROW_ID, row, row_fields),
                                        TEST_TYPE(ROW_ID + 1, cell, cell_fields)};
TEST_TYPES(described, &types[0], &types[1], &types[2]);

static int state; /* lost by a restart */

static NVM_POOL *make(struct var **var, struct row **row) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  *var = nvm_calloc(pool, VAR_ID, 2, sizeof **var);
  *row = nvm_calloc(pool, ROW_ID, 1, sizeof **row + CELLS * sizeof(struct cell));
  CHECK(nvm_pool_set_root(pool, *var) == 0 && nvm_tx_commit(pool) == 0);
  return pool;
}

/* Only the deciding member is stored: an old number becomes a pointer. */
TEST(unsafe_pointer_by_what_decides) {
  struct var *var;
  struct row *row;
  NVM_POOL *pool = make(&var, &row);
  for (unsigned i = 0; i < 2; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(var[i].kind, NUMBER);
    STORE(var[i].p, (struct var *)(void *)&state);
    STORE(row->cells[i].kind, NUMBER);
    STORE(row->cells[i].p, (void *)&state);
    CHECK(nvm_tx_commit(pool) == 0);
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(var[i].kind, POINTER);
    CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(row->cells[i].kind, POINTER);
    CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(var[i].p, NULL);
    STORE(row->cells[i].p, NULL);
    STORE(var[i].kind, POINTER);
    STORE(row->cells[i].kind, POINTER);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static struct meeting {
  NVM_POOL *pool;
  struct var *var;
  pthread_mutex_t lock;
  _Atomic unsigned step;
  uint64_t kind; /* what the second makes of it; 0: it frees */
  void *value;
  bool aborts;
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void await(unsigned step) {
  while (meeting.step < step)
    sched_yield();
}

/* Takes over the lock, and changes what decides, or frees the block; ends behind the first. */
static void *go_over(void *unused) {
  (void)unused;
  await(1);
  CHECK(nvm_tx_begin(meeting.pool) == 0);
  pthread_mutex_lock(&meeting.lock);
  if (meeting.kind)
    STORE(meeting.var->kind, meeting.kind);
  else
    CHECK(nvm_free(meeting.var) == 0);
  if (meeting.value)
    STORE(meeting.var->p, (struct var *)meeting.value);
  pthread_mutex_unlock(&meeting.lock);
  meeting.step = 2;
  await(3);
  if (meeting.aborts)
    CHECK(nvm_tx_abort(meeting.pool) == 0);
  else
    CHECK(nvm_tx_commit(meeting.pool) == 0);
  return NULL;
}

/* What the first stores, and what its commit gives while the second's transaction is open. */
static void meet(uint64_t kind, void *value, enum nvm_error expected) {
  pthread_t second;
  meeting.step = 0;
  CHECK(pthread_create(&second, NULL, go_over, NULL) == 0);
  CHECK(nvm_tx_begin(meeting.pool) == 0);
  pthread_mutex_lock(&meeting.lock);
  STORE(meeting.var->kind, kind);
  STORE(meeting.var->p, (struct var *)value);
  pthread_mutex_unlock(&meeting.lock);
  meeting.step = 1;
  await(2);
  if (expected)
    CHECK_FAILS(nvm_tx_commit(meeting.pool) == 0, expected);
  else
    CHECK(nvm_tx_commit(meeting.pool) == 0);
  meeting.step = 3;
  CHECK(pthread_join(second, NULL) == 0);
  CHECK(nvm_pool_verify_pointers(meeting.pool, NULL, NULL) == 0);
}

TEST(unsafe_pointer_in_a_block_that_another_frees) {
  struct row *row;
  meeting.pool = make(&meeting.var, &row);
  CHECK(nvm_tx_begin(meeting.pool) == 0);
  meeting.var = nvm_calloc(meeting.pool, VAR_ID, 1, sizeof(struct var));
  CHECK(nvm_tx_commit(meeting.pool) == 0);
  meeting.kind = 0;
  meeting.aborts = true;
  meeting.value = NULL;
  meet(POINTER, &state, NVM_EUNSAFE);
  meet(POINTER, meeting.var, NVM_OK);
  CHECK(nvm_pool_close(meeting.pool) == 0);
}

/* What it frees itself may point anywhere. */
TEST(unsafe_pointers_in_own_freed_blocks) {
  enum { MANY = 300 };
  struct var *var, *all[MANY];
  struct row *row;
  NVM_POOL *pool = make(&var, &row);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < MANY; i++)
    all[i] = nvm_calloc(pool, VAR_ID, 1, sizeof **all);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < MANY; i++) {
    STORE(all[i]->kind, POINTER);
    STORE(all[i]->p, (struct var *)(void *)&state);
    CHECK(nvm_free(all[i]) == 0);
  }
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

TEST(unsafe_pointer_whatever_another_decides) {
  struct row *row;
  meeting.pool = make(&meeting.var, &row);
  meeting.kind = NUMBER;
  meeting.aborts = true;
  meeting.value = NULL;
  meet(POINTER, &state, NVM_EUNSAFE);
  meeting.kind = POINTER; /* a right program: a number first, then a pointer */
  meeting.aborts = false;
  meeting.value = meeting.var;
  meet(NUMBER, &state, NVM_OK);
  CHECK(nvm_pool_close(meeting.pool) == 0);
}

/* What a transaction frees itself is judged in none of its pools. */
TEST(unsafe_pointer_in_a_block_that_is_freed_of_two_pools) {
  struct var *var;
  struct row *row;
  NVM_POOL *pool = make(&var, &row), *other = test_create(test_path("other"), 1 << 20);
  CHECK(nvm_tx_begin(other) == 0);
  uint64_t *word = nvm_calloc(other, 0, 1, sizeof *word);
  CHECK(nvm_tx_commit(other) == 0 && nvm_tx_begin(pool) == 0 && nvm_tx_begin(other) == 0);
  STORE(row->cells[0].kind, POINTER);
  STORE(row->cells[0].p, &state);
  STORE(*word, 1);
  CHECK(nvmi_free_soon(row)); /* as free() does: looked at when the transaction ends */
  CHECK(nvm_tx_commit(other) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(*word == 1 && nvm_pool_close(other) == 0 && nvm_pool_close(pool) == 0);
}

/* Others pay nothing for what the program has besides; elements of arrays count. */
TEST(records_are_judged_where_the_pool_has_such) {
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 0, 64) && nvm_tx_commit(pool) == 0);
  CHECK(!pool->judges_records);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, ROW_ID, 64) && nvm_tx_commit(pool) == 0);
  CHECK(pool->judges_records && nvm_pool_close(pool) == 0);
  pool = nvm_pool_open(path);
  CHECK(pool && pool->judges_records && nvm_pool_close(pool) == 0);
}
