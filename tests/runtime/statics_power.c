/* statics_power.c: the power fails while a pointer to a function is entered into the pool's table,
 * and while such pointers are bound anew because another process had the functions elsewhere.
 *
 * That other process is made by hand: in its file each address is the one that the next function
 * has here, so an old address that is taken for a new one, or the reverse, calls the wrong one.
 */
#include "harness.h"
#include "heap_types.h"
#include "simulation.h"
#include "statics.h"
#include "store.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALLS = 3, CALLS_ID = 1011 };

typedef int call(void);

struct calls {
  uint64_t known;
  call *call[8 * CALLS]; /* each eighth is used: lines of their own */
};

int statics_zero(void);
int statics_one(void);
int statics_two(void);
int statics_three(void);
int statics_zero(void) { return 0; }
int statics_one(void) { return 1; }
int statics_two(void) { return 2; }
int statics_three(void) { return 3; }

static call *const functions[] = {statics_zero, statics_one, statics_two, statics_three};

static const struct nvm_field fields[] = {{.name = "call",
                                           .offset = offsetof(struct calls, call),
                                           .count = 8 * CALLS,
                                           .stride = 8,
                                           .kind = NVM_FIELD_FUNCTION}};
static const struct nvm_type type = {.id = CALLS_ID,
                                     .name = "struct calls",
                                     .size = sizeof(struct calls),
                                     .alignment = 8,
                                     .field_count = 1,
                                     .fields = fields};
__attribute__((section(NVM_TYPES_SECTION), used)) static const struct nvm_type *const described =
    &type;

static void prepare(void *path) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct calls *calls = nvm_calloc(pool, CALLS_ID, 1, sizeof *calls);
  CHECK(calls && nvm_pool_set_root(pool, calls) == 0);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

static void learn(NVM_POOL *pool, unsigned count) {
  struct calls *calls = nvm_pool_root(pool);
  for (unsigned i = 0; i < count; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(calls->call[8 * i], functions[i]);
    STORE(calls->known, i + 1);
    CHECK(nvm_tx_commit(pool) == 0);
  }
}

static void learn_without_power(void *argument) {
  const struct power_cut *cut = argument;
  power_arm(cut);
  power_hold(true);
  NVM_POOL *pool = test_open(cut->path);
  power_hold(false);
  learn(pool, 2);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

/* What the pool has will be found again in the next process. */
static void verify(const char *path) {
  NVM_POOL *pool = test_open(path);
  const struct calls *calls = nvm_pool_root(pool);
  for (unsigned i = 0; i < CALLS; i++) {
    bool is_constant;
    call *known = calls->call[8 * i];
    CHECK(known == (i < calls->known ? functions[i] : NULL));
    CHECK(!known || nvmi_statics_look_up(pool, (uint64_t)(uintptr_t)known, &is_constant) >= 0);
  }
  uint32_t chunk = (uint32_t)((nvmi_offset(pool, calls) - pool->header.heap_offset) >> 14);
  CHECK(!calls->known || *nvmi_chunk_word(pool, chunk) & NVM_SPAN_STATICS);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

/* Function i, here, was where function i + 1 is. */
static void pretend(const char *path) {
  int fd = open(path, O_RDWR);
  struct stat status;
  CHECK(fd >= 0 && fstat(fd, &status) == 0);
  char *file = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(file != MAP_FAILED);
  const struct nvm_header *header = (void *)file;
  struct calls *calls = (void *)(file + *(uint64_t *)(file + NVM_ROOT_OFFSET) - header->base);
  char *entry = file + *(uint64_t *)(file + NVM_STATICS_OFFSET) + sizeof(struct nvm_statics_run);
  for (unsigned i = 0; i < CALLS; i++) {
    struct nvm_static *one = (void *)entry;
    CHECK(one->address == (uint64_t)(uintptr_t)functions[i] && calls->call[8 * i] == functions[i]);
    one->address = (uint64_t)(uintptr_t)functions[i + 1];
    calls->call[8 * i] = functions[i + 1];
    entry += one->length;
  }
  munmap(file, (size_t)status.st_size);
  close(fd);
}

static void prepare_moved(void *path) {
  prepare(path);
  NVM_POOL *pool = test_open(path);
  learn(pool, CALLS);
  CHECK(nvm_pool_close(pool) == 0);
  pretend(path);
}

static void bind_without_power(void *argument) {
  const struct power_cut *cut = argument;
  power_arm(cut);
  NVM_POOL *pool = test_open(cut->path);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify_all(const char *path) {
  NVM_POOL *pool = test_open(path);
  CHECK(((const struct calls *)nvm_pool_root(pool))->known == CALLS);
  CHECK(nvm_pool_close(pool) == 0);
  verify(path);
}

TEST_ONCE(power_failure_static_is_learnt) {
  power_fail_everywhere("undo", prepare, learn_without_power, verify);
  power_fail_everywhere("shadow", prepare, learn_without_power, verify);
}

TEST_ONCE(power_failure_statics_are_bound) {
  power_fail_everywhere("undo", prepare_moved, bind_without_power, verify_all);
}
