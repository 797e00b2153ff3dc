/* relocate.c: a pool opened at other addresses: everything in it still leads where it led. */
#define _GNU_SOURCE
#include "moved.h"
#include "pool/pool.h"
#include "simulation.h"
#include "sparse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 400, FEW = 3 };

static const char *filled(const char *name, unsigned nodes) {
  const char *path = test_path(name);
  NVM_POOL *pool = test_create(path, 1 << 20);
  moved_fill(pool, nodes);
  CHECK(nvm_pool_close(pool) == 0);
  return path;
}

TEST(moved_there_and_back) {
  const char *path = filled("pool", NODES);
  for (unsigned threads = 1; threads <= 3; threads++) {
    char text[8];
    snprintf(text, sizeof text, "%u", threads);
    setenv("NVMOVE_THREADS", text, 1);
    moved_verify_file(path, NODES, moved_base(40 + threads));
    moved_verify_file(path, NODES, 0); /* stays where it went */
  }
  NVM_POOL *pool = test_open(path);
  moved_fill(pool, FEW); /* life goes on */
  CHECK(nvm_pool_close(pool) == 0);
  moved_verify_file(path, FEW, moved_base(7));
}

/* A second file with the same base: the case that Breeze names. */
TEST(moved_because_the_place_is_taken) {
  const char *path = filled("pool", NODES), *copy = test_path("copy");
  sparse_copy(path, copy);
  NVM_POOL *pool = test_open(path), *other = test_open(copy);
  CHECK(nvm_pool_base(pool) != nvm_pool_base(other));
  moved_verify(pool, NODES);
  moved_verify(other, NODES);
  CHECK(nvm_pool_close(pool) == 0 && nvm_pool_close(other) == 0);
}

TEST(moved_by_the_environment) {
  const char *path = filled("pool", FEW);
  char text[32];
  snprintf(text, sizeof text, "%#llx", (unsigned long long)moved_base(9));
  setenv("NVMOVE_BASE", text, 1);
  NVM_POOL *pool = test_open(path);
  CHECK((uintptr_t)nvm_pool_base(pool) == moved_base(9));
  moved_verify(pool, FEW);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(moved_nowhere) {
  const char *path = filled("pool", FEW);
  static const uint64_t wrong[] = {4096, NVM_RANGE_BASE + 4096, NVM_RANGE_BASE + NVM_RANGE_SIZE,
                                   NVM_RANGE_BASE - (UINT64_C(1) << 30)};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_FAILS(nvm_pool_open_at(path, (void *)(uintptr_t)wrong[i]), NVM_EARGUMENT);
    CHECK(strstr(nvm_strerror(), "multiple of 1 GiB"));
  }
  NVM_POOL *pool = test_open(path), *other = test_create(test_path("other"), 1 << 20);
  const void *taken = nvm_pool_base(other);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK_FAILS(nvm_pool_open_at(path, taken), NVM_EADDRESS);
  CHECK(nvm_pool_close(other) == 0);
  moved_verify_file(path, FEW, 0);
}

static void obstructed(enum moved_obstacle what, const char *words) {
  const char *path = test_path("pool");
  unlink(path);
  NVM_POOL *pool = test_create(path, 1 << 20);
  uint64_t base = (uintptr_t)nvm_pool_base(pool);
  moved_fill(pool, NODES);
  moved_obstruct(pool, what);
  CHECK(nvm_pool_close(pool) == 0);
  uint64_t there = base == moved_base(20) ? moved_base(21) : moved_base(20);
  if (!words) {
    moved_verify_file(path, NODES, there);
    return;
  }
  CHECK_FAILS(nvm_pool_open_at(path, (void *)(uintptr_t)there), NVM_EADDRESS);
  if (!strstr(nvm_strerror(), words))
    test_fail(__FILE__, __LINE__, nvm_strerror());
  pool = test_open(path);
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 0); /* refusing is no crash */
  CHECK((uintptr_t)nvm_pool_base(pool) == base);
  moved_verify(pool, NODES);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

TEST(moved_nothing_that_may_be_a_number) {
  obstructed(MOVED_UNION, "field guess of struct odd may be a pointer or a number");
  obstructed(MOVED_UNION_SMALL, NULL);
  obstructed(MOVED_UNTYPED, "a block without type holds what may be a pointer");
  obstructed(MOVED_PLAIN, NULL);
  obstructed(MOVED_HASH, "field hash of struct odd is made of addresses");
  obstructed(MOVED_UNALIGNED, "field pointer of struct packed is not aligned");
}

struct journey {
  const char *path;
  uint64_t base;
};

static void travel(void *argument) {
  const struct journey *journey = argument;
  NVM_POOL *pool = nvm_pool_open_at(journey->path, (void *)(uintptr_t)journey->base);
  CHECK(pool || nvm_errno() == NVM_EADDRESS);
  if (pool)
    CHECK(nvm_pool_close(pool) == 0);
}

/* Dies at each step of a move; the next attempt, elsewhere, dies at the same step, and so on. */
TEST(moved_in_spite_of_deaths) {
  const char *start = filled("start", NODES), *path = test_path("pool");
  unsigned deaths = 0, before;
  unsigned step = 1;
  do {
    char kill[32];
    snprintf(kill, sizeof kill, "move:%u", step++);
    sparse_copy(start, path);
    before = deaths;
    for (unsigned attempt = 0; attempt < 4; attempt++) {
      struct journey journey = {path, moved_base(50 + attempt * 3)};
      deaths += test_was_killed(test_child(kill, travel, &journey));
      test_check_pool(path); /* half moved, it is sound */
    }
    moved_verify_file(path, NODES, step % 2 ? moved_base(90) : 0);
  } while (deaths > before);
  CHECK(deaths > 40);
}

/* Also where the attempt has to be taken back. */
TEST(moved_back_in_spite_of_deaths) {
  const char *start = test_path("start"), *path = test_path("pool");
  NVM_POOL *pool = test_create(start, 1 << 20);
  moved_fill(pool, NODES);
  moved_obstruct(pool, MOVED_UNION);
  struct journey journey = {
      path, (uintptr_t)nvm_pool_base(pool) == moved_base(50) ? moved_base(51) : moved_base(50)};
  uint64_t home = (uintptr_t)nvm_pool_base(pool);
  uint64_t elsewhere = home == moved_base(60) ? moved_base(61) : moved_base(60);
  CHECK(nvm_pool_close(pool) == 0);
  unsigned deaths = 0, step = 1;
  bool died;
  do {
    char kill[32];
    snprintf(kill, sizeof kill, "move:%u", step++);
    sparse_copy(start, path);
    died = test_was_killed(test_child(kill, travel, &journey));
    deaths += died;
    if (step % 2) /* else the next opening, which does not ask, goes back */
      CHECK_FAILS(nvm_pool_open_at(path, (void *)(uintptr_t)elsewhere), NVM_EADDRESS);
    moved_verify_file(path, NODES, step % 2 ? home : 0);
  } while (died);
  CHECK(deaths > 20);
}

static void travel_and_die(void *argument) {
  const struct journey *journey = argument;
  CHECK(nvm_pool_open_at(journey->path, (void *)(uintptr_t)journey->base) != NULL);
  _exit(0);
}

/* Once all has arrived, the file says so: a number that looks like an address of before is left
 * alone from then on. */
TEST(moved_in_one_go) {
  struct journey journey = {filled("pool", FEW), moved_base(70)};
  CHECK(test_child(NULL, travel_and_die, &journey) == 0);
  struct nvm_pool *pool = nvmi_pool_attach(journey.path, false);
  CHECK(pool && pool->header.moves == 0 && pool->header.base == journey.base);
  nvmi_pool_detach(pool);
}

/* More interrupted attempts than the header can write down: the last ones find no place but the
 * known ones, and none is lost. */
TEST_ONCE(moved_by_many_attempts) {
  const char *path = filled("pool", NODES);
  for (unsigned attempt = 0; attempt < 20; attempt++) {
    struct journey journey = {path, moved_base(100 + attempt)};
    test_child("move:3", travel, &journey);
  }
  moved_verify_file(path, NODES, 0);
}

static void prepare(void *path) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  moved_fill(pool, FEW);
  CHECK(nvm_pool_close(pool) == 0);
}

static void travel_without_power(void *argument) {
  const struct power_cut *cut = argument;
  power_arm(cut);
  struct journey journey = {cut->path, moved_base(70)};
  travel(&journey);
}

/* Each image is opened elsewhere, as it is, and with the power failing again. */
static void travel_on(const char *image) {
  static unsigned round;
  const char *again = test_path("again"), *left = test_path("left");
  round++;
  for (unsigned i = 0; i < 3; i++) {
    struct power_cut cut = {
        .path = again, .image = left, .at = 1 + (round * 7 + i * 5) % 40, .seed = round * 31 + i};
    sparse_copy(image, again);
    int status = test_child(NULL, travel_without_power, &cut);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
    moved_verify_file(WEXITSTATUS(status) == POWER_CUT ? left : again, FEW,
                      moved_base(80 + round % 5));
  }
  moved_verify_file(image, FEW, moved_base(75 + round % 3));
}

TEST_ONCE(moved_in_spite_of_power_failures) {
  setenv("NVMOVE_THREADS", "2", 1);
  power_fail_everywhere("shadow", prepare, travel_without_power, travel_on);
}

/* The pool lies where it was going, so what was left behind is not moved once more. */
static void verify_there(const char *image) { moved_verify_file(image, FEW, moved_base(70)); }

TEST_ONCE(moved_in_spite_of_a_kill_and_a_power_failure) {
  power_fail_after_kills("undo", prepare, travel_without_power, verify_there);
}
