/* statics.c: pointers to functions and constants, in a pool that another process has left: bound
 * anew in spite of deaths and power failures (runtime/symbols/statics.h). */
#define _GNU_SOURCE
#include "symbols/statics.h"
#include "bound.h"
#include "core/pool.h"
#include "simulation.h"
#include "sparse.h"
#include "store.h"
#include "type_tables.h"

#include "nvmove/inspect.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOOK_ID = 4001, NODES = 60, FEW = 6, PLACES = 4 };

/* Neighbours of one size: shifted by that, the address of one is that of the next. */
static const uint64_t places[PLACES] = {1, 2, 3, 4};

struct hook {
  uint64_t number;
  struct hook *next;
  const uint64_t *constant; /* plain */
  uint64_t *marked;         /* as NVM_STATIC_PTR */
  void (*call)(void);
  uint64_t lookalike; /* a number */
};

static const struct nvm_field hook_fields[] = {
    TEST_FIELD(hook, next, NVM_FIELD_POINTER, .target = HOOK_ID),
    TEST_FIELD(hook, constant, NVM_FIELD_POINTER),
    TEST_FIELD(hook, marked, NVM_FIELD_STATIC_POINTER), TEST_FIELD(hook, call, NVM_FIELD_FUNCTION)};
static const struct nvm_type hook_type = TEST_TYPE(HOOK_ID, hook, hook_fields);
TEST_TYPES(described, &hook_type);

static uint64_t state[PLACES];
static void call_one(void) {}
static void call_two(void) { state[0]++; }

static struct hook expected(unsigned number, struct hook *next) {
  return (struct hook){.number = number,
                       .next = next,
                       .constant = number % 5 ? &places[number % PLACES] : NULL,
                       .marked = &state[number % 3],
                       .call = number % 2 ? call_one : call_two,
                       .lookalike = (uintptr_t)&places[number % PLACES]};
}

void bound_fill(NVM_POOL *pool, unsigned from, unsigned to) {
  for (unsigned number = from; number < to; number++) {
    CHECK(nvm_tx_begin(pool) == 0);
    struct hook made = expected(number, nvm_pool_root(pool));
    struct hook *hook = nvm_alloc(pool, HOOK_ID, sizeof *hook);
    CHECK(hook);
    store_bytes(hook, &made, sizeof made);
    CHECK(nvm_pool_set_root(pool, hook) == 0 && nvm_tx_commit(pool) == 0);
  }
}

void bound_verify(NVM_POOL *pool, unsigned nodes) {
  const struct hook *hook = nvm_pool_root(pool);
  for (unsigned number = nodes; number-- > 0; hook = hook->next) {
    struct hook want = expected(number, hook->next);
    CHECK(memcmp(hook, &want, sizeof want) == 0);
  }
  CHECK(!hook);
}

/* A closed pool as a process would have left it in which everything lay `shift` bytes further:
 * addresses of one thing become those of another. Every entry of the table, and every word that it
 * speaks of. */
static void bound_shift(const char *path, uint64_t shift) {
  int fd = open(path, O_RDWR);
  struct stat status;
  CHECK(fd >= 0 && fstat(fd, &status) == 0);
  char *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(bytes != MAP_FAILED);
  uint64_t base = ((struct nvm_header *)bytes)->base,
           run = *(uint64_t *)(bytes + NVM_STATICS_OFFSET);
  unsigned entries = 0;
  const struct nvm_static *first = (void *)(bytes + run + sizeof(struct nvm_statics_run));
  const uint64_t twins = first->address ^ first->twin;
  for (uint64_t at = sizeof(struct nvm_statics_run); run && at < NVM_CHUNK_SIZE; entries++) {
    struct nvm_static *entry = (void *)(bytes + run + at);
    if (!entry->length)
      break;
    entry->address += shift;
    entry->twin = entry->address ^ twins;
    memset(entry->build_id, 7, sizeof entry->build_id); /* of another build */
    uint64_t seed = nvmi_check(((struct nvm_header *)bytes)->id, 16, 0);
    entry->check =
        nvmi_check(&entry->offset, entry->length - offsetof(struct nvm_static, offset), seed);
    at += entry->length;
  }
  CHECK(entries > 2);
  for (uint64_t root = *(uint64_t *)(bytes + NVM_ROOT_OFFSET); root;) {
    struct hook *hook = (void *)(bytes + root - base);
    uint64_t *words[] = {(void *)&hook->constant, (void *)&hook->marked, (void *)&hook->call};
    for (unsigned i = 0; i < 3; i++)
      *words[i] += *words[i] ? shift : 0;
    root = (uintptr_t)hook->next;
  }
  munmap(bytes, (size_t)status.st_size);
  close(fd);
}

static void prepare_nodes(const char *path, unsigned nodes) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  bound_fill(pool, 0, nodes);
  CHECK(nvm_pool_close(pool) == 0);
  bound_shift(path, sizeof *places);
}

static void prepare(const char *path) { prepare_nodes(path, NODES); }
static void prepare_few(void *path) { prepare_nodes(path, FEW); }

static void reopen(void *path) {
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify_nodes(const char *path, unsigned nodes) {
  NVM_POOL *pool = test_open(path);
  bound_verify(pool, nodes);
  CHECK(pool->header.statics == NVM_STATICS_BOUND);
  CHECK(nvm_pool_verify_pointers(pool, test_print_fault, (void *)(uintptr_t)"pointers") == 0);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

static void verify(const char *path) { verify_nodes(path, NODES); }

TEST(statics_bound_anew) {
  char path[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  prepare(path);
  verify(path);
  bound_shift(path, (uint64_t)-2 * sizeof *places);
  NVM_POOL *pool = test_open(path);
  bound_fill(pool, NODES, NODES + FEW); /* what is noted now is noted at its new address */
  CHECK(nvm_pool_close(pool) == 0);
  bound_shift(path, sizeof *places);
  verify_nodes(path, NODES + FEW);
}

/* More than the first table of addresses has room for, each noted once. */
TEST(statics_many) {
  static const uint64_t many[1000];
  enum { MANY = sizeof many / sizeof *many };
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  for (unsigned i = 0; i < 2 * MANY; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    struct hook made = {.number = i, .next = nvm_pool_root(pool), .constant = &many[i % MANY]};
    struct hook *hook = nvm_alloc(pool, HOOK_ID, sizeof *hook);
    CHECK(hook);
    store_bytes(hook, &made, sizeof made);
    CHECK(nvm_pool_set_root(pool, hook) == 0 && nvm_tx_commit(pool) == 0);
  }
  for (unsigned opening = 0; opening < 2; opening++) {
    struct nvm_account account;
    CHECK(nvm_pool_account(pool, &account) == 0 && account.statics == MANY);
    CHECK(nvm_pool_verify_pointers(pool, test_print_fault, (void *)(uintptr_t)"pointers") == 0);
    CHECK(nvm_pool_close(pool) == 0);
    pool = test_open(test_path("pool"));
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static void check_link_is_missed(uint64_t at) {
  uint64_t link = 0, none = 0;
  int fd = open(test_path("pool"), O_RDWR);
  CHECK(pread(fd, &link, 8, (off_t)at) == 8 && link && pwrite(fd, &none, 8, (off_t)at) == 8);
  CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
  CHECK(strstr(nvm_strerror(), "no link leads to it"));
  CHECK(pwrite(fd, &link, 8, (off_t)at) == 8 && close(fd) == 0);
}

/* Without it, what the rest of the table says of pointers would be forgotten. */
TEST(statics_without_a_link_are_refused) {
  static const uint64_t many[400];
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  for (unsigned i = 0; i < sizeof many / sizeof *many; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    struct hook made = {.number = i, .constant = &many[i]};
    struct hook *hook = nvm_alloc(pool, HOOK_ID, sizeof *hook);
    store_bytes(hook, &made, sizeof made);
    CHECK(nvm_pool_set_root(pool, hook) == 0 && nvm_tx_commit(pool) == 0);
  }
  uint64_t second = *nvmi_statics_first_link(pool);
  CHECK(nvm_pool_close(pool) == 0);
  check_link_is_missed(NVM_STATICS_OFFSET);
  check_link_is_missed(second + offsetof(struct nvm_statics_run, next));
  pool = test_open(test_path("pool"));
  CHECK(nvm_pool_verify_pointers(pool, test_print_fault, (void *)(uintptr_t)"pointers") == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST(statics_bound_in_spite_of_deaths) {
  char path[200], kill[32];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  unsigned deaths = 0, every = test_is_long() ? 1 : 3;
  for (unsigned first = 1; first <= 8; first++)
    for (unsigned second = 1 + first % every; second <= 8; second += every) {
      unlink(path);
      prepare(path);
      snprintf(kill, sizeof kill, "move:%u", first);
      deaths += test_was_killed(test_child(kill, reopen, path));
      snprintf(kill, sizeof kill, "move:%u", second);
      deaths += test_was_killed(test_child(kill, reopen, path));
      verify(path);
    }
  CHECK(deaths > 60 / every);
}

static void reopen_without_power(void *cut) {
  power_arm(cut);
  reopen((void *)(uintptr_t)((const struct power_cut *)cut)->path);
}

static void verify_twice(const char *image) {
  static unsigned round;
  const char *again = test_path("again"), *left = test_path("left");
  struct power_cut cut = {.path = again, .image = left, .at = 1 + round % 60, .seed = round};
  round++;
  sparse_copy(image, again);
  int status = test_child(NULL, reopen_without_power, &cut);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
  verify_nodes(WEXITSTATUS(status) == POWER_CUT ? left : again, FEW);
  verify_nodes(image, FEW);
}

/* While they are noted: whatever of a transaction is there, what it points to is known. */
static void prepare_one(void *path) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  bound_fill(pool, 0, 1);
  CHECK(nvm_pool_close(pool) == 0);
}

static void fill_without_power(void *cut) {
  power_arm(cut);
  NVM_POOL *pool = test_open(((const struct power_cut *)cut)->path);
  bound_fill(pool, 1, FEW);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The first that the pool has: its table goes where something else has been. */
static void prepare_dirty(void *path) {
  enum { LARGE = 300000 };
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  char *large = nvm_alloc(pool, 0, LARGE);
  CHECK(large);
  __nvm_note(large, LARGE);
  memset(large, 0xff, LARGE);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_free(large) == 0 && nvm_pool_close(pool) == 0);
}

static void prepare_none(void *path) { CHECK(nvm_pool_close(test_create(path, 1 << 20)) == 0); }

static void begin_without_power(void *cut) {
  power_arm(cut);
  NVM_POOL *pool = test_open(((const struct power_cut *)cut)->path);
  bound_fill(pool, 0, 2);
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify_some(const char *image) {
  NVM_POOL *pool = test_open(image);
  const struct hook *first = nvm_pool_root(pool);
  bound_verify(pool, first ? (unsigned)first->number + 1 : 0);
  CHECK(nvm_pool_verify_pointers(pool, test_print_fault, (void *)(uintptr_t)"pointers") == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(statics_noted_in_spite_of_power_failures_undo) {
  power_fail_everywhere("undo", prepare_one, fill_without_power, verify_some);
}

TEST_ONCE(statics_noted_in_spite_of_power_failures_shadow) {
  power_fail_everywhere("shadow", prepare_one, fill_without_power, verify_some);
}

TEST_ONCE(statics_bound_in_spite_of_power_failures) {
  power_fail_everywhere("undo", prepare_few, reopen_without_power, verify_twice);
}

static void verify_few(const char *image) { verify_nodes(image, FEW); }

TEST_ONCE(statics_bound_in_spite_of_a_kill_and_a_power_failure) {
  power_fail_after_kills("undo", prepare_few, reopen_without_power, verify_few);
}

TEST_ONCE(statics_begun_in_spite_of_power_failures) {
  power_fail_everywhere("undo", prepare_none, begin_without_power, verify_some);
  power_fail_everywhere("undo", prepare_dirty, begin_without_power, verify_some);
}

/* Two threads, their blocks in one span. The first has marked the span and does not come to its
 * fence; the second sees the mark. */
static NVM_POOL *shared;
static sem_t marked, committed;
static unsigned steps;

static void *number_last(void *last) {
  CHECK(nvm_tx_begin(shared) == 0);
  STORE(((struct hook *)last)->number, 1);
  CHECK(nvm_tx_commit(shared) == 0);
  return NULL;
}

/* With two logs, so that none is made later; what will be pointed to is known. */
static void prepare_two(void *path) {
  NVM_POOL *pool = shared = test_create(path, 1 << 20);
  struct hook *last = NULL;
  pthread_t thread;
  CHECK(nvm_tx_begin(pool) == 0);
  struct hook *elsewhere = nvm_calloc(pool, HOOK_ID, 20, sizeof *elsewhere); /* in another span */
  CHECK(elsewhere);
  STORE(elsewhere->marked, state);
  for (unsigned number = 0; number < 2; number++) {
    struct hook made = {.number = number, .next = last},
                *hook = nvm_alloc(pool, HOOK_ID, sizeof made);
    CHECK(hook);
    store_bytes(hook, &made, sizeof made);
    last = hook;
  }
  CHECK(nvm_pool_set_root(pool, last) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(pthread_create(&thread, NULL, number_last, last) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Behind the mark comes what the transaction stored. */
static void stop_first(const void *address) {
  uint64_t at = (uint64_t)((const char *)address - shared->home);
  if (at < shared->header.heap_offset || steps++)
    return;
  sem_post(&marked);
  sem_wait(&committed);
}

static void point_to_state(struct hook *hook) {
  CHECK(nvm_tx_begin(shared) == 0);
  STORE(hook->marked, state);
  CHECK(nvm_tx_commit(shared) == 0);
}

static void *point_first(void *hook) { return point_to_state(hook), NULL; }

static void point_in_two(void *cut) {
  power_arm(cut);
  power_hold(true);
  shared = test_open(((const struct power_cut *)cut)->path);
  shared->several_logs = true;
  struct hook *first = nvm_pool_root(shared);
  sem_init(&marked, 0, 0), sem_init(&committed, 0, 0);
  power_flush = stop_first;
  power_hold(false);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, point_first, first) == 0);
  sem_wait(&marked);
  point_to_state(first->next);
  sem_post(&committed);
  pthread_join(thread, NULL);
  power_hold(true);
  CHECK(nvm_pool_close(shared) == 0);
}

static void verify_marks(const char *image) {
  NVM_POOL *pool = test_open(image);
  CHECK(nvm_pool_verify_pointers(pool, test_print_fault, (void *)(uintptr_t)"pointers") == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(statics_of_two_threads_in_spite_of_power_failures) {
  power_fail_everywhere("undo", prepare_two, point_in_two, verify_marks); /* shadow waits itself */
}

/* A field for static data that leads into its own pool: found by a commit that is to compare, and
 * by the check of the pool. */
static void point_into_pool(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_open(test_path("pool"));
  struct hook *hook = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(hook->marked, &hook->number);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
  CHECK(strstr(nvm_strerror(), "marked") && hook->marked != &hook->number);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(hook->next, hook);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST(statics_that_lead_into_the_pool) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  bound_fill(pool, 0, 1);
  CHECK(nvm_pool_close(pool) == 0);
  setenv("NVMOVE_DEBUG", "compare", 1);
  CHECK(test_child(NULL, point_into_pool, NULL) == 0);
  test_check_pool(test_path("pool"));
}
