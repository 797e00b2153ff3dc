/* counting.c: reference counts are right wherever a transaction dies; garbage, and only it, goes. */
#define _GNU_SOURCE
#include "format/layout_tables.h"
#include "harness.h"
#include "store.h"
#include "type_tables.h"

#include "nvmove/abi.h"
#include "nvmove/inspect.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { PLACE_ID = 3101, SLOTS_ID, SLOTS = 96, KIND_POINTER = 7, TAG = 6 };

/* A word of each kind that counts, and what decides about one of them. */
struct place {
  struct place *strong, *weak;
  uintptr_t tagged;
  union {
    struct place *pointer;
    uint64_t number;
  } guess;
  uint64_t kind, when; /* a pointer, when the kind says so */
  char *inside;
  uint64_t number;
};

static const int64_t kinds[] = {KIND_POINTER};
static const struct nvm_when when = {
    .offset = offsetof(struct place, kind), .bits = 64, .count = 1, .values = kinds};
static const struct nvm_field place_fields[] = {
    TEST_FIELD(place, strong, NVM_FIELD_POINTER),
    TEST_FIELD(place, weak, NVM_FIELD_WEAK_POINTER),
    TEST_FIELD(place, tagged, NVM_FIELD_POINTER, .tag = TAG),
    TEST_FIELD(place, guess, NVM_FIELD_UNION),
    TEST_FIELD(place, when, NVM_FIELD_POINTER, .when = &when),
    TEST_FIELD(place, inside, NVM_FIELD_POINTER)};
static const struct nvm_type place_type = TEST_TYPE(PLACE_ID, place, place_fields),
                             slots_type = TEST_POINTER(SLOTS_ID, place, 0);
TEST_TYPES(described, &place_type, &slots_type);

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % below;
}

static NVM_POOL *make(const char *path) {
  NVM_POOL *pool = test_create(path, 8 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  void *slots = nvm_calloc(pool, SLOTS_ID, SLOTS, sizeof(void *));
  CHECK(slots && nvm_pool_set_root(pool, slots) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_count_references(pool) == 0);
  return pool;
}

static struct place **slots_of(NVM_POOL *pool) { return nvm_pool_root(pool); }

/* The counts are what a look at all blocks says. */
static void check_counts(NVM_POOL *pool) {
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"verify") == 0);
}

static struct place *any(NVM_POOL *pool, uint64_t *seed) {
  struct place *place = slots_of(pool)[draw(seed, SLOTS)];
  for (uint64_t steps = draw(seed, 3); place && place->strong && steps; steps--)
    place = place->strong;
  return place;
}

static void change(NVM_POOL *pool, struct place *at, uint64_t *seed) {
  struct place *to = draw(seed, 3) ? any(pool, seed) : NULL;
  switch (draw(seed, 9)) {
  case 0:
    STORE(at->strong, to);
    break;
  case 1:
    STORE(at->weak, to);
    break;
  case 2:
    STORE(at->tagged, (uintptr_t)to | (uintptr_t)draw(seed, 4) << 1);
    break;
  case 3:
    STORE(at->guess.number, to ? (uintptr_t)to : draw(seed, 99));
    break;
  case 4:
    STORE(at->kind, draw(seed, 2) ? KIND_POINTER : draw(seed, 5));
    break;
  case 5:
    STORE(at->when, to ? (uintptr_t)to : 0);
    break;
  case 6:
    STORE(at->inside, to ? (char *)to + draw(seed, 64) : NULL);
    break;
  case 7:
    store_bytes((char *)&at->inside + 0, &(char){(char)(draw(seed, 4) * 16)}, 1);
    break;
  default:
    store_bytes((char *)&at->guess + draw(seed, 8), "~", 1);
  }
}

/* Raw memory, in which an address may stand anywhere. */
static void scribble(NVM_POOL *pool, char *raw, uint64_t *seed) {
  struct place *to = any(pool, seed);
  char *at = raw + draw(seed, 90);
  if (draw(seed, 4))
    store_bytes(at, &to, sizeof to);
  else
    store_bytes(at, "~~", 2);
}

static struct place *add(NVM_POOL *pool, uint64_t *seed) {
  struct place *made = nvm_alloc(pool, draw(seed, 12) ? PLACE_ID : 0, sizeof *made);
  CHECK(made);
  struct place fresh = {.strong = any(pool, seed)};
  store_bytes(made, &fresh, draw(seed, 4) ? sizeof fresh : offsetof(struct place, guess));
  return made;
}

static void use_large(NVM_POOL *pool, uint64_t *seed) {
  struct place **large = nvm_calloc(pool, SLOTS_ID, 20000, sizeof *large);
  STORE(large[19999], any(pool, seed));
  CHECK(nvm_free(large) == 0);
}

/* A few steps, or very many. */
static void act(NVM_POOL *pool, uint64_t *seed) {
  CHECK(nvm_tx_begin(pool) == 0);
  for (uint64_t left = draw(seed, 30) ? 1 + draw(seed, 6) : 200; left; left--) {
    struct place **slot = &slots_of(pool)[draw(seed, SLOTS)], *at = any(pool, seed);
    uint64_t what = draw(seed, 10);
    if (what < 3)
      STORE(*slot, add(pool, seed));
    else if (what == 3)
      STORE(*slot, at);
    else if (what == 4)
      STORE(*slot, NULL);
    else if (what == 5)
      CHECK(nvm_free(add(pool, seed)) == 0);
    else if (what == 6)
      draw(seed, 20) ? (void)add(pool, seed) : use_large(pool, seed); /* lost at once */
    else if (at && nvm_usable_size(at) == sizeof *at && what == 7)
      scribble(pool, nvm_calloc(pool, 0, 1, 100), seed);
    else if (at)
      change(pool, at, seed);
  }
  CHECK(draw(seed, 8) ? nvm_tx_commit(pool) == 0 : nvm_tx_abort(pool) == 0);
}

TEST(counted_whatever_is_stored) {
  for (uint64_t seed = 1 + test_seed(), end = seed + 6; seed < end; seed++) {
    uint64_t state = seed;
    char name[16];
    snprintf(name, sizeof name, "pool%d", (int)(end - seed));
    NVM_POOL *pool = make(test_path(name));
    for (unsigned i = 0; i < 600; i++) {
      act(pool, &state);
      if (i % 20 == 0)
        check_counts(pool);
    }
    check_counts(pool);
    uint64_t freed, before = test_blocks(pool);
    CHECK(nvm_pool_release(pool, &freed) == 0 && freed && test_blocks(pool) == before - freed);
    check_counts(pool);
    CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 0);
    CHECK(nvm_pool_verify_pointers(pool, NULL, NULL) >= 0);
    CHECK(nvm_pool_close(pool) == 0);
    test_check_pool(test_path(name));
  }
}

static bool expect_reachable(void *context, const struct nvm_block *block) {
  (void)context;
  CHECK(block->is_reachable);
  return true;
}

/* Cycles by mark and sweep; then everything that is left is reachable, and nothing reachable went.
 */
TEST(counted_and_collected) {
  uint64_t state = 5 + test_seed();
  NVM_POOL *pool = make(test_path("pool"));
  for (unsigned i = 0; i < 3000; i++)
    act(pool, &state);
  struct nvm_collected collected;
  CHECK(nvm_pool_collect(pool, &collected) == 0);
  check_counts(pool);
  CHECK(nvm_pool_release(pool, NULL) == 0);
  CHECK(nvm_pool_each_block(pool, true, expect_reachable, NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void link_chain(NVM_POOL *pool, unsigned length) {
  for (unsigned i = 0; i < length; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    struct place *made = nvm_calloc(pool, PLACE_ID, 1, sizeof *made);
    STORE(made->strong, slots_of(pool)[0]);
    if (made->strong)
      STORE(made->strong->weak, made);
    STORE(slots_of(pool)[0], made);
    CHECK(nvm_tx_commit(pool) == 0);
  }
}

/* A list linked both ways, backwards by weak pointers: dropped, it goes whole. */
TEST(counted_weak_pointers_break_cycles) {
  NVM_POOL *pool = make(test_path("pool"));
  link_chain(pool, 5000);
  uint64_t freed;
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 0);
  STORE(slots_of(pool)[0], NULL);
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 5000);
  CHECK(test_blocks(pool) == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST(counted_weak_pointers_become_null) {
  NVM_POOL *pool = make(test_path("pool"));
  link_chain(pool, 3);
  struct place *first = slots_of(pool)[0], *second = first->strong, *third = second->strong;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(slots_of(pool)[1], third);
  STORE(slots_of(pool)[2], first);
  STORE(first->strong, NULL);
  CHECK(third->weak == second);
  CHECK(nvm_tx_commit(pool) == 0);
  uint64_t freed;
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 1);
  CHECK(third->weak == NULL && third->strong == NULL);
  check_counts(pool);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

/* More records than the circular log has room for, counted by the thread meanwhile. */
TEST(counted_beyond_the_circular_log) {
  NVM_POOL *pool = make(test_path("pool"));
  link_chain(pool, 2);
  struct place *a = slots_of(pool)[0], *b = a->strong;
  for (unsigned i = 0; i < 200000; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(slots_of(pool)[1 + i % 50], i % 3 ? a : i % 7 ? b : NULL);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  check_counts(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

/* So many references at once that they are not logged: counted anew. */
TEST(counted_anew_after_too_many) {
  enum { MANY = 70000 };
  NVM_POOL *pool = make(test_path("pool"));
  link_chain(pool, 2);
  struct nvm_account account;
  CHECK(nvm_tx_begin(pool) == 0);
  struct place **all = nvm_calloc(pool, SLOTS_ID, MANY, sizeof *all);
  for (unsigned i = 0; i < MANY; i++)
    STORE(all[i], slots_of(pool)[0]);
  STORE(slots_of(pool)[3], (void *)all);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_account(pool, &account) == 0 && account.counts_references && account.counts_stale);
  STORE(slots_of(pool)[0], NULL);
  uint64_t freed;
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 0);
  CHECK(nvm_pool_account(pool, &account) == 0 && !account.counts_stale);
  check_counts(pool);
  STORE(slots_of(pool)[3], NULL); /* as many references go */
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 3);
  check_counts(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(counted_only_when_asked) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  struct nvm_account account;
  CHECK(nvm_pool_account(pool, &account) == 0 && !account.counts_references);
  CHECK_FAILS(nvm_pool_release(pool, NULL) == 0, NVM_EARGUMENT);
  CHECK_FAILS(nvm_pool_release(NULL, NULL) == 0, NVM_EARGUMENT);
  CHECK_FAILS(nvm_pool_count_references(NULL) == 0, NVM_EARGUMENT);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, PLACE_ID, 64));
  CHECK_FAILS(nvm_pool_count_references(pool) == 0, NVM_EOPENTX);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_count_references(pool) == 0);
  CHECK(nvm_pool_count_references(pool) == 0);
  CHECK(nvm_pool_account(pool, &account) == 0 && account.counts_references);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, PLACE_ID, 64));
  CHECK_FAILS(nvm_pool_release(pool, NULL) == 0, NVM_EOPENTX);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool")); /* what no pointer led to when it was closed is gone */
  CHECK(nvm_pool_account(pool, &account) == 0 && account.counts_references);
  CHECK(test_blocks(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void run_until_killed(void *path) {
  uint64_t state = 77 + test_seed();
  NVM_POOL *pool = make(path);
  for (unsigned i = 0; i < 40; i++) {
    act(pool, &state);
    CHECK(i % 16 != 15 || nvm_pool_release(pool, NULL) == 0);
    CHECK(i != 7 || nvm_pool_collect(pool, NULL) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static void open_and_close(void *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  CHECK(pool != NULL);
  check_counts(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Dies at each step of a kind, then in the opening that follows; the counts are right, or stale. */
static unsigned die_at_each(const char *kind, const char *again) {
  char *path = (char *)(uintptr_t)test_path("pool"), kill[32];
  const unsigned first = test_is_long() ? 60 : 20;
  unsigned deaths = 0;
  for (unsigned n = 1, died = 1; died; n += n < first ? 1 : 60 * 7 / first) {
    remove(path);
    snprintf(kill, sizeof kill, "%s:%u", kind, n);
    died = test_was_killed(test_child(kill, run_until_killed, path));
    if (access(path, F_OK))
      continue;
    deaths += died;
    snprintf(kill, sizeof kill, "%s:%u", again, 1 + n % 5);
    test_child(kill, open_and_close, path);
    CHECK(test_child(NULL, open_and_close, path) == 0);
    test_check_pool(path);
  }
  return deaths;
}

TEST(counted_in_spite_of_deaths_while_counting) {
  CHECK(die_at_each("count", "count") > (test_is_long() ? 50 : 18));
}

TEST(counted_in_spite_of_deaths_at_commits) {
  CHECK(die_at_each("commit", "recover") > (test_is_long() ? 50 : 18));
}

TEST(counted_in_spite_of_deaths_at_appends) {
  CHECK(die_at_each("append", "count") > (test_is_long() ? 20 : 15));
}

/* The word at an offset of the file; it becomes `*now`, unless that is null. */
static uint64_t word_at(const char *path, uint64_t offset, const uint64_t *now) {
  uint64_t was;
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && pread(fd, &was, sizeof was, (off_t)offset) == sizeof was);
  CHECK(!now || pwrite(fd, now, sizeof *now, (off_t)offset) == sizeof *now);
  close(fd);
  return was;
}

/* Its first line, its directory, a count. */
TEST_ONCE(counted_pool_damaged) {
  const char *path = test_path("pool");
  NVM_POOL *pool = make(path);
  link_chain(pool, 5);
  CHECK(nvm_pool_close(pool) == 0);
  uint64_t head = word_at(path, offsetof(struct nvm_header, counts), NULL);
  uint64_t directory = head + sizeof(struct nvm_counts) + 2 * NVM_BATCH_SIZE +
                       (uint64_t)NVM_RING_LINES * NVM_RING_LINE;
  uint64_t first = 0;
  while (!(first = word_at(path, directory, NULL)))
    directory += sizeof first;
  const struct {
    uint64_t at, word;
  } damage[] = {{head, 5}, {head + offsetof(struct nvm_counts, size), 64}, {directory, 4096}};
  for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
    uint64_t was = word_at(path, damage[i].at, &damage[i].word);
    CHECK(nvm_pool_check(path, NULL, NULL) == 1);
    CHECK_FAILS(nvm_pool_open(path) != NULL, NVM_ECORRUPT);
    word_at(path, damage[i].at, &was);
  }
  uint64_t place = first;
  while (!word_at(path, place, NULL))
    place += sizeof place;
  word_at(path, place, &(uint64_t){word_at(path, place, NULL) + 1});
  CHECK(nvm_pool_check(path, NULL, NULL) == 0);
  pool = test_open(path);
  CHECK(nvm_pool_verify(pool, NULL, NULL) == 1);
  CHECK(nvm_pool_collect(pool, NULL) == 0 && nvm_pool_verify(pool, NULL, NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}
