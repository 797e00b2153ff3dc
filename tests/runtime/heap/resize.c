/* resize.c: a pool's file made longer and shorter: what is in it stays, also after a crash. */
#include "moved.h"

#include "nvmove/inspect.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES = 50, MIB = 1 << 20 };

static uint64_t file_size(const char *path) {
  struct stat status;
  CHECK(stat(path, &status) == 0);
  return (uint64_t)status.st_size;
}

static void fill(char *block) {
  __nvm_note(block, MIB);
  memset(block, 0xff, MIB);
}

/* Much at the end is free, and not zero. */
static const char *prepared(void) {
  const char *path = test_path("pool");
  unlink(path);
  NVM_POOL *pool = test_create(path, 8 * MIB);
  void *large[6];
  moved_fill(pool, NODES);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < 6; i++) {
    CHECK((large[i] = nvm_alloc(pool, 0, MIB)));
    fill(large[i]);
  }
  CHECK(nvm_tx_commit(pool) == 0);
  for (unsigned i = 0; i < 6; i++)
    CHECK(nvm_free(large[i]) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  return path;
}

struct wish {
  const char *path;
  size_t size;
};

static void resize(void *argument) {
  const struct wish *wish = argument;
  NVM_POOL *pool = test_open(wish->path);
  CHECK(nvm_pool_resize(pool, wish->size) == 0);
  moved_verify(pool, NODES);
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify(const char *path) {
  test_check_pool(path);
  NVM_POOL *pool = test_open(path);
  moved_verify(pool, NODES);
  for (unsigned i = 0; i < 20; i++) { /* life goes on, and asks for more */
    CHECK(nvm_tx_begin(pool) == 0);
    const char *zero = nvm_calloc(pool, 0, 1, MIB);
    CHECK(zero && nvm_tx_commit(pool) == 0);
    CHECK(!*zero && memcmp(zero, zero + 1, MIB - 1) == 0);
  }
  moved_verify(pool, NODES);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

TEST(resized_both_ways) {
  static const size_t sizes[] = {1, 16 * MIB, 100 * MIB, 3 * MIB, 0};
  for (const size_t *size = sizes; *size; size++) {
    const char *path = prepared();
    uint64_t before = file_size(path);
    resize(&(struct wish){path, *size});
    uint64_t after = file_size(path);
    CHECK(*size > before ? after <= *size && after + 16384 > *size : after < before);
    verify(path);
  }
}

static void resize_and_die(void *argument) {
  const struct wish *wish = argument;
  NVM_POOL *pool = test_open(wish->path);
  CHECK(nvm_pool_resize(pool, wish->size) == 0);
  _exit(0);
}

/* The header knows of the shorter heap before the file is cut. */
TEST(resized_and_then_dead) {
  struct wish wish = {prepared(), 1};
  CHECK(test_child(NULL, resize_and_die, &wish) == 0);
  verify(wish.path);
}

TEST_ONCE(resized_only_when_it_can) {
  const char *path = prepared();
  NVM_POOL *pool = test_open(path);
  CHECK_FAILS(nvm_pool_resize(pool, (size_t)1 << 40) == 0, NVM_ETOOLARGE);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 0, 100));
  CHECK_FAILS(nvm_pool_resize(pool, 100 * MIB) == 0, NVM_EOPENTX);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK_FAILS(nvm_pool_resize(pool, 1) == 0, NVM_EOPENTX);
  CHECK_FAILS(nvm_pool_resize(NULL, 1) == 0, NVM_EARGUMENT);
  CHECK(nvm_pool_close(pool) == 0);
  verify(path);
}

TEST(resized_in_spite_of_deaths) {
  static const size_t sizes[] = {1, 40 * MIB};
  unsigned deaths = 0;
  for (unsigned i = 0; i < 2; i++)
    for (unsigned n = 1, died = 1; died; n++) {
      struct wish wish = {prepared(), sizes[i]};
      char kill[32];
      snprintf(kill, sizeof kill, "grow:%u", n);
      died = test_was_killed(test_child(kill, resize, &wish));
      deaths += died;
      verify(wish.path);
    }
  CHECK(deaths >= 5);
}
