/* pointers.c: what nvmove-cc says of a type lets commit find pointers that would dangle after a
 * restart; and every symbol of the contract (abi.def) is there. */
#include "harness.h"
#include "store.h"
#include "type_tables.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct element {
  uint64_t key;
  void *value;
  uint32_t hits, total; /* hits: NVM_VOLATILE */
};

struct record {
  void *next;
  uint64_t number;
  void *table[3];
  void (*call)(void);
  struct element tail[];
};

enum { ELEMENT_ID = 1001, RECORD_ID = 1002 };

static const struct nvm_field element_fields[] = {TEST_FIELD(element, value, NVM_FIELD_POINTER),
                                                  {.name = "hits",
                                                   .offset = offsetof(struct element, hits),
                                                   .count = 4,
                                                   .stride = 1,
                                                   .kind = NVM_FIELD_VOLATILE}};
static const struct nvm_type element_type = TEST_TYPE(ELEMENT_ID, element, element_fields);
static const struct nvm_field record_fields[] = {
    TEST_FIELD(record, next, NVM_FIELD_POINTER, .target = RECORD_ID),
    TEST_FIELD(record, table, NVM_FIELD_WEAK_POINTER), TEST_FIELD(record, call, NVM_FIELD_FUNCTION),
    TEST_TAIL(record, tail, ELEMENT_ID)};
static const struct nvm_type record_type = TEST_TYPE(RECORD_ID, record, record_fields);

TEST_TYPES(described, &element_type, &record_type);

static int state = 1; /* lost by a restart */

static void unsafe(NVM_POOL *pool, void **slot, void *value, const char *field) {
  void *before = *slot;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(*slot, value);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
  CHECK(strstr(nvm_strerror(), field));
  CHECK(*slot == before); /* undone */
}

/* In whichever of two pools it is, neither is committed. */
TEST(unsafe_pointer_in_one_of_two_pools) {
  NVM_POOL *pools[2] = {test_create(test_path("pool"), 1 << 20),
                        test_create(test_path("other"), 1 << 20)};
  struct record *records[2];
  for (int i = 0; i < 2; i++) {
    CHECK(nvm_tx_begin(pools[i]) == 0);
    records[i] = nvm_calloc(pools[i], RECORD_ID, 1, sizeof(struct record));
    CHECK(records[i] && nvm_pool_set_root(pools[i], records[i]) == 0);
    CHECK(nvm_tx_commit(pools[i]) == 0);
  }
  for (int bad = 0; bad < 2; bad++) {
    CHECK(nvm_tx_begin(pools[0]) == 0);
    STORE(records[0]->number, 7);
    STORE(records[1]->number, 8);
    STORE(records[bad]->next, (void *)&state);
    CHECK_FAILS(nvm_tx_commit(pools[0]) == 0, NVM_EUNSAFE);
    for (int i = 0; i < 2; i++)
      CHECK(!records[i]->number && !records[i]->next);
  }
  CHECK(nvm_tx_begin(pools[0]) == 0);
  STORE(records[0]->number, 1);
  STORE(records[1]->number, 2);
  CHECK(nvm_tx_commit(pools[0]) == 0);
  for (int i = 0; i < 2; i++)
    CHECK(nvm_pool_close(pools[i]) == 0);
  pools[0] = test_open(test_path("pool"));
  pools[1] = test_open(test_path("other"));
  for (int i = 0; i < 2; i++) {
    CHECK(((struct record *)nvm_pool_root(pools[i]))->number == (uint64_t)i + 1);
    CHECK(nvm_pool_close(pools[i]) == 0);
  }
}

TEST(unsafe_pointer_at_commit) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20),
           *other = test_create(test_path("other"), 1 << 20);
  int local;
  nvm_tx_begin(pool);
  struct record *record =
      nvm_calloc(pool, RECORD_ID, 1, sizeof *record + 4 * sizeof(struct element));
  struct element *elements = nvm_calloc(pool, ELEMENT_ID, 100, sizeof *elements);
  void *foreign = nvm_alloc(other, 0, 64);
  CHECK(record && elements && foreign && nvm_tx_commit(pool) == 0);
  unsafe(pool, &record->next, &local, "next of the struct record");
  unsafe(pool, (void **)&record->call, &local, "call of the struct record");
  unsafe(pool, &record->table[1], &state, "table"); /* static, but not constant */
  unsafe(pool, &record->table[2], foreign, "table");
  unsafe(pool, &record->tail[3].value, &local, "value");
  unsafe(pool, &elements[77].value, &local, "value of the struct element");
  nvm_tx_begin(pool);
  STORE(record->next, record);
  STORE(record->table[1], &elements[5]);
  STORE(record->number, (uint64_t)(uintptr_t)&local);
  STORE(record->tail[2].key, (uint64_t)(uintptr_t)&local);
  STORE(*(void **)&record->call, (void *)&unsafe);
  STORE(record->table[0], (void *)"what a restart finds again");
  STORE(elements[3].key, (uint64_t)(uintptr_t)foreign);
  STORE(elements[3].value, NULL);
  CHECK(nvm_tx_commit(pool) == 0);
  nvm_tx_begin(pool);
  struct record *fresh = nvm_calloc(pool, RECORD_ID, 1, sizeof *fresh);
  STORE(fresh->next, &local);
  STORE(record->next, fresh);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
  CHECK(record->next == record);
  CHECK(nvm_pool_close(pool) == 0 && nvm_pool_close(other) == 0);
  pool = test_open(test_path("pool")); /* types are known again */
  unsafe(pool, &elements[7].value, &local, "value of the struct element");
  CHECK(nvm_pool_close(pool) == 0);
}

/* Numbers that could be addresses are looked up some at a time: the pointer may be any of them. */
TEST(unsafe_pointer_among_numbers) {
  enum { RECORDS = 20 };
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  int local;
  struct record *records[RECORDS];
  for (unsigned i = 0; i < RECORDS; i++)
    CHECK((records[i] = nvm_calloc(pool, RECORD_ID, 1, sizeof *records[i])));
  for (unsigned unsafe = 0; unsafe <= RECORDS; unsafe++) {
    nvm_tx_begin(pool);
    for (unsigned i = 0; i < RECORDS; i++) {
      STORE(records[i]->number, (uint64_t)(uintptr_t)&local);
      if (i == unsafe)
        STORE(records[i]->next, &local);
    }
    if (unsafe == RECORDS)
      CHECK(nvm_tx_commit(pool) == 0);
    else
      CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* Lines come in any order: what is known of one block says nothing of those before it. */
TEST(unsafe_pointer_below_a_block_without) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  int local;
  nvm_tx_begin(pool);
  struct record *record = nvm_calloc(pool, RECORD_ID, 1, sizeof *record);
  void **numbers = nvm_calloc(pool, 0, 1, 1024);
  CHECK(record && numbers && (char *)numbers > (char *)record && nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  for (size_t i = 0; i < 1024 / sizeof *numbers; i++)
    STORE(numbers[i], &local);
  STORE(record->next, &local);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST(unsafe_pointer_in_what_is_freed) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  int local;
  nvm_tx_begin(pool);
  struct record *brief = nvm_calloc(pool, RECORD_ID, 1, sizeof *brief);
  STORE(brief->next, &local);
  CHECK(nvm_free(brief) == 0);
  CHECK(nvm_tx_commit(pool) == 0);
  struct record *older = nvm_calloc(pool, RECORD_ID, 1, sizeof *older);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(older->next, &local);
  CHECK(nvm_free(older) == 0);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void atomic_unsafe(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  __nvm_atomic_enter(__builtin_frame_address(0));
  struct record *record = nvm_calloc(pool, RECORD_ID, 1, sizeof *record);
  STORE(record->next, (void *)&pool);
  __nvm_atomic_leave(__builtin_frame_address(0));
}

/* An atomic call has no caller to tell: the process stops, unless the check is off. */
TEST(unsafe_pointer_in_an_atomic_call) {
  int status = test_child(NULL, atomic_unsafe, NULL);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(unlink(test_path("pool")) == 0);
  setenv("NVMOVE_POINTERS", "0", 1);
  CHECK(test_child(NULL, atomic_unsafe, NULL) == 0);
}

struct unnoted {
  bool in_tail, volatile_field;
};

static void store_unnoted(void *argument) {
  const struct unnoted *which = argument;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  nvm_tx_begin(pool);
  struct record *record =
      nvm_calloc(pool, RECORD_ID, 1, sizeof *record + 4 * sizeof(struct element));
  struct element *elements = nvm_calloc(pool, ELEMENT_ID, 100, sizeof *elements);
  CHECK(record && elements && nvm_tx_commit(pool) == 0);
  nvm_tx_begin(pool);
  STORE(record->number, 1);
  struct element *element = which->in_tail ? &record->tail[2] : &elements[70];
  *(which->volatile_field ? &element->hits : &element->total) = 77;
  CHECK(nvm_tx_commit(pool) == 0);
  _exit(0);
}

/* A field that is never noted may differ from the file, its neighbour may not. */
TEST_ONCE(compare_leaves_volatile_fields_out) {
  setenv("NVMOVE_DEBUG", "compare", 1);
  setenv("NVMOVE_METHOD", "shadow", 1);
  for (int i = 0; i < 4; i++) {
    struct unnoted which = {i & 1, i & 2};
    int status = test_child(NULL, store_unnoted, &which);
    CHECK(which.volatile_field ? status == 0 : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(unlink(test_path("pool")) == 0);
  }
}

TEST_ONCE(every_symbol_of_the_contract) {
  const void *const symbols[] = {
#define NVM_ABI_FUNCTION(name, result, parameters, convention) (const void *)name,
#define NVM_ABI_THREAD_LOCAL(name, type) &name,
#include "nvmove/abi.def"
#undef NVM_ABI_FUNCTION
#undef NVM_ABI_THREAD_LOCAL
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    CHECK(symbols[i] != NULL);
  extern const char NVM_ABI_VERSION_SYMBOL;
  CHECK(NVM_ABI_VERSION_SYMBOL == 1);
}
