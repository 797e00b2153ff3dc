/* dram_limit.c: the DRAM of private views stays within its bound, and nothing is lost by that. */
#define _GNU_SOURCE
#include "tx/dram_limit.h"
#include "blocked.h"
#include "core/gate.h"
#include "core/standstill.h"
#include "harness.h"
#include "heap/heap_types.h"
#include "hooks.h"
#include "store.h"
#include "tx/quiesce.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHARED_ID = 3274 }; /* of looks.c: a word that is never noted */
enum { PAGE = 4096, PAGES = 2048, BOUND = 256, ROUNDS = 4 };

/* Private pages of the pool's view, as the kernel counts them. */
static uint64_t pages_in_dram(const struct nvm_pool *pool) {
  FILE *maps = fopen("/proc/self/smaps", "r");
  CHECK(maps != NULL);
  char line[512];
  uint64_t kib = 0, start, end, one;
  bool is_view = false;
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      is_view = start >= pool->header.base && end <= pool->header.base + pool->header.range;
    else if (is_view && sscanf(line, "Anonymous: %lu kB", &one) == 1)
      kib += one;
  }
  fclose(maps);
  return kib / 4;
}

struct store {
  NVM_POOL *pool;
  uint64_t *words;
  unsigned first, stride;
};

static uint64_t *word_of(const struct store *s, unsigned page) {
  return s->words + page * (PAGE / 8) + page % 100;
}

/* Each page again and again, one a transaction; the words of a page grow by one in each round. */
static void *write_pages(void *argument) {
  const struct store *s = argument;
  for (uint64_t round = 1; round <= ROUNDS; round++)
    for (unsigned page = s->first; page < PAGES; page += s->stride) {
      CHECK(*word_of(s, page) == round - 1);
      CHECK(nvm_tx_begin(s->pool) == 0);
      STORE(*word_of(s, page), round);
      CHECK(nvm_tx_commit(s->pool) == 0);
    }
  return NULL;
}

static struct store create(const char *bound) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  setenv("NVMOVE_SHADOW_DRAM", bound, 1);
  struct store s = {.pool = test_create(test_path("pool"), 16 << 20), .stride = 1};
  CHECK(nvm_tx_begin(s.pool) == 0);
  s.words = nvm_calloc(s.pool, 0, PAGES, PAGE);
  CHECK(s.words && nvm_pool_set_root(s.pool, s.words) == 0 && nvm_tx_commit(s.pool) == 0);
  return s;
}

static void check_and_close(const struct store *s) {
  for (unsigned page = 0; page < PAGES; page++)
    CHECK(*word_of(s, page) == ROUNDS);
  CHECK(nvm_pool_close(s->pool) == 0);
  NVM_POOL *pool = test_open(test_path("pool"));
  struct store again = *s;
  again.words = nvm_pool_root(pool);
  for (unsigned page = 0; page < PAGES; page++)
    CHECK(*word_of(&again, page) == ROUNDS);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(shrink_one_thread) {
  struct store s = create("1M");
  CHECK(BOUND * PAGE == 1 << 20);
  write_pages(&s);
  CHECK(pages_in_dram(s.pool) <= BOUND + 1);
  check_and_close(&s);
}

/* Stores that nobody notes, and uncommitted ones, outlive the drop of their neighbours. */
TEST_ONCE(shrink_keeps_what_the_file_has_not) {
  struct store s = create("1M");
  for (unsigned page = 0; page < 40; page++)
    s.words[page * (PAGE / 8) + 200] = 1000 + page;
  write_pages(&s);
  CHECK(pages_in_dram(s.pool) <= BOUND + 41);
  for (unsigned page = 0; page < 40; page++)
    CHECK(s.words[page * (PAGE / 8) + 200] == 1000 + page);
  check_and_close(&s);
}

/* The same few pages, a word of its own in each. */
static void *write_beside(void *argument) {
  const struct store *s = argument;
  for (uint64_t round = 1; round <= 2000; round++)
    for (unsigned page = 0; page < 16; page++) {
      uint64_t *word = word_of(s, page) + 8 * (s->first + 1);
      CHECK(*word == round - 1);
      CHECK(nvm_tx_begin(s->pool) == 0);
      STORE(*word, round);
      CHECK(nvm_tx_commit(s->pool) == 0);
    }
  return NULL;
}

TEST_ONCE(shrink_beside_other_threads) {
  struct store s = create("4K"), part[3];
  pthread_t threads[3];
  for (unsigned i = 0; i < 3; i++) {
    part[i] = s;
    part[i].first = i;
    CHECK(pthread_create(&threads[i], NULL, write_beside, &part[i]) == 0);
  }
  for (unsigned i = 0; i < 3; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  write_pages(&s);
  check_and_close(&s);
}

static volatile uint64_t *hits;
static uint64_t hit;
static void hit_there(void *at, size_t size) {
  if ((uintptr_t)hits - (uintptr_t)at < size)
    *hits = ++hit;
}

static void *idle(void *wait) {
  pthread_barrier_wait(wait);
  return NULL;
}

/* Another thread may store to a field that is never noted, just when its page is dropped. */
TEST_ONCE(shrink_keeps_fields_that_are_never_noted) {
  struct store s = create("1M");
  pthread_barrier_t end;
  pthread_t other;
  uint64_t *beside = NULL;
  CHECK(nvm_tx_begin(s.pool) == 0);
  for (unsigned i = 0; i < PAGE; i++) { /* far from the span's own table, which views do not have */
    hits = beside;
    CHECK((beside = nvm_calloc(s.pool, SHARED_ID, 1, sizeof *beside)));
  }
  CHECK(nvm_tx_commit(s.pool) == 0 && nvm_tx_begin(s.pool) == 0);
  STORE(*beside, 0); /* the page is one that was written, and equals the file */
  CHECK(nvm_tx_commit(s.pool) == 0 && pthread_barrier_init(&end, NULL, 2) == 0);
  CHECK(pthread_create(&other, NULL, idle, &end) == 0);
  hook_dropped = hit_there;
  write_pages(&s);
  hook_dropped = NULL;
  CHECK(*hits == hit && pages_in_dram(s.pool) <= BOUND + 2);
  pthread_barrier_wait(&end);
  CHECK(pthread_join(other, NULL) == 0);
  check_and_close(&s);
}

static _Atomic int stored;

/* A moment's order by nothing that a sanitizer takes for one. */
static void tell(int what) { atomic_store_explicit(&stored, what, memory_order_relaxed); }
static void hear(int what) {
  while (atomic_load_explicit(&stored, memory_order_relaxed) != what)
    ;
}

static void *store_in_a_written_page(void *argument) {
  const struct store *s = argument;
  CHECK(nvm_tx_begin(s->pool) == 0);
  STORE(s->words[8], 1);
  CHECK(nvm_tx_commit(s->pool) == 0);
  tell(1);
  hear(2);
  return NULL;
}

/* What is compared is what another thread, at rest, stored: no data race, and none reported. */
TEST_ONCE(shrink_compares_what_others_stored) {
  struct store s = create("256K");
  CHECK(nvm_tx_begin(s.pool) == 0);
  STORE(s.words[0], 1);
  CHECK(nvm_tx_commit(s.pool) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, store_in_a_written_page, &s) == 0);
  hear(1);
  s.pool->written_limit = 0;
  nvmi_dram_limit_keep(
      nvmi_self->logs[s.pool->index]); /* no commit before, which would hear of it */
  CHECK(s.pool->written_count == 0);
  tell(2);
  CHECK(pthread_join(thread, NULL) == 0 && s.words[0] == 1 && s.words[8] == 1);
  CHECK(nvm_pool_close(s.pool) == 0);
}

static void *store_at_the_gate(void *argument) {
  const struct store *s = argument;
  STORE(s->words[8], 1); /* its log is there, and the usual way open */
  __nvm_commit_point();
  stored = 1;
  while (stored == 1)
    ;
  STORE(s->words[16], 1);
  stored = 3;
  return NULL;
}

/* Nobody notes, and so nobody stores, while the gate is shut. */
TEST_ONCE(shrink_gate_holds_notes_up) {
  struct store s = create("1M");
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, store_at_the_gate, &s) == 0);
  while (!stored)
    ;
  nvmi_gate_shut(&s.pool->gate, NVMI_GATE_DRAM_LIMIT);
  stored = 2;
  usleep(20000);
  CHECK(stored == 2 && s.words[16] == 0);
  nvmi_gate_open(&s.pool->gate, NVMI_GATE_DRAM_LIMIT);
  CHECK(pthread_join(thread, NULL) == 0 && s.words[16] == 1);
  CHECK(nvm_pool_close(s.pool) == 0);
}

static void *stop_and_let_go(void *argument) {
  const struct nvm_pool *pool = argument;
  struct nvmi_thread *self = nvmi_thread_self();
  nvmi_stop_others(self, UINT64_C(1) << pool->index);
  nvmi_let_others(self);
  return NULL;
}

/* A thread that undoes waits for the lock of who shrinks, and does not open the gate for it. */
TEST_ONCE(shrink_gate_is_its_own) {
  struct store s = create("1M");
  pthread_t thread;
  nvmi_lock(&s.pool->lock);
  nvmi_gate_shut(&s.pool->gate, NVMI_GATE_DRAM_LIMIT);
  CHECK(pthread_create(&thread, NULL, stop_and_let_go, s.pool) == 0);
  usleep(20000);
  CHECK(s.pool->gate == NVMI_GATE_DRAM_LIMIT);
  nvmi_unlock(&s.pool->lock);
  CHECK(pthread_join(thread, NULL) == 0 && s.pool->gate == NVMI_GATE_DRAM_LIMIT);
  nvmi_gate_open(&s.pool->gate, NVMI_GATE_DRAM_LIMIT);
  CHECK(!s.pool->gate && nvm_pool_close(s.pool) == 0);
}

static void commit_word(const struct store *s, unsigned page, uint64_t value) {
  CHECK(nvm_tx_begin(s->pool) == 0);
  STORE(*word_of(s, page), value);
  CHECK(nvm_tx_commit(s->pool) == 0);
}

static void shrink(const struct store *s) {
  s->pool->written_limit = 0;
  nvmi_dram_limit_keep(nvmi_self->logs[s->pool->index]);
}

/* Pages stay up to the bound; with many that cannot be dropped it is tried again when there are twice as many. */
TEST_ONCE(shrink_not_before_the_bound) {
  enum { FEW = 100, UNNOTED = 200 };
  struct store s = create("1M");
  for (unsigned page = 0; page < FEW; page++)
    commit_word(&s, page, 1);
  CHECK(pages_in_dram(s.pool) >= FEW && s.pool->written_count >= FEW);
  for (unsigned page = 0; page < UNNOTED; page++) {
    commit_word(&s, page, 2);
    s.words[page * (PAGE / 8) + 200] = 1; /* not in the file */
  }
  shrink(&s);
  CHECK(s.pool->written_count >= UNNOTED && s.pool->written_count < UNNOTED + 10);
  CHECK(s.pool->written_limit == 2 * s.pool->written_count && s.pool->written_limit > BOUND);
  CHECK(count_blocked() == 0 && nvm_pool_close(s.pool) == 0);
}

static _Atomic unsigned turn;
static void await_turn(unsigned number) {
  while (turn < number)
    usleep(10);
}

static void *leave_open(void *argument) {
  const struct store *s = argument;
  CHECK(nvm_tx_begin(s->pool) == 0);
  STORE(*word_of(s, 1), *word_of(s, 1)); /* the page equals the file, and may not for long */
  turn = 1;
  await_turn(2);
  CHECK(nvm_tx_commit(s->pool) == 0);
  turn = 3;
  await_turn(4);
  return NULL;
}

static unsigned dropped, dropped_behind_the_gate;
static const struct nvm_pool *shrunk;
static void look_at_the_gate(void *at, size_t size) {
  (void)at, (void)size;
  dropped++;
  dropped_behind_the_gate += shrunk->gate == NVMI_GATE_DRAM_LIMIT;
}

/* Nothing is dropped while another thread has something open; then the gate is shut. */
TEST_ONCE(shrink_waits_for_open_transactions) {
  struct store s = create("1M");
  pthread_t other;
  shrunk = s.pool;
  for (unsigned page = 0; page < 10; page++)
    commit_word(&s, page, 1);
  CHECK(pthread_create(&other, NULL, leave_open, &s) == 0);
  await_turn(1);
  hook_dropped = look_at_the_gate;
  shrink(&s);
  CHECK(!dropped && s.pool->written_count >= 10);
  turn = 2;
  await_turn(3);
  shrink(&s);
  CHECK(dropped >= 10 && dropped_behind_the_gate == dropped && s.pool->written_count == 0);
  hook_dropped = NULL;
  turn = 4;
  CHECK(pthread_join(other, NULL) == 0 && nvm_pool_close(s.pool) == 0);
}

/* Where commits do not wait, the file has not yet what a page shows when it is dropped. */
TEST_ONCE(shrink_brings_what_is_delayed) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  setenv("NVMOVE_DOMAIN", "disk", 1);
  setenv("NVMOVE_DURABLE", "60000", 1);
  setenv("NVMOVE_SHADOW_DRAM", "1M", 1);
  struct store s = {.pool = test_create(test_path("pool"), 16 << 20), .stride = 1};
  CHECK(s.pool->file && nvm_tx_begin(s.pool) == 0);
  s.words = nvm_calloc(s.pool, 0, PAGES, PAGE);
  CHECK(s.words && nvm_pool_set_root(s.pool, s.words) == 0 && nvm_tx_commit(s.pool) == 0);
  shrunk = s.pool;
  hook_dropped = look_at_the_gate;
  commit_word(&s, 3, 7);
  shrink(&s);
  hook_dropped = NULL;
  CHECK(dropped && *word_of(&s, 3) == 7);
  CHECK(nvm_pool_close(s.pool) == 0);
}

static unsigned maps_left; /* until one gives nothing */
static bool map_failed;
static void fail_later(void) {
  fault_no_memory = !maps_left--;
  map_failed |= fault_no_memory;
}

/* Each mapping that an opening makes may be the one that there is no memory for. */
TEST_ONCE(shrink_without_memory_for_its_table) {
  struct store s = create("1M");
  unsigned refused = 0;
  CHECK(nvm_pool_close(s.pool) == 0);
  map_failed = true;
  for (unsigned map = 0; map_failed; map++) {
    maps_left = map;
    map_failed = false;
    hook_map = fail_later;
    s.pool = nvm_pool_open(test_path("pool"));
    hook_map = NULL;
    fault_no_memory = false;
    if (!s.pool) {
      refused += strstr(nvm_strerror(), "out of memory for a table of pages") != NULL;
      continue;
    }
    s.words = nvm_pool_root(s.pool);
    commit_word(&s, 0, map);
    CHECK(nvm_pool_close(s.pool) == 0);
  }
  CHECK(refused == 1);
}

TEST_ONCE(shrink_bound_makes_sense) {
  setenv("NVMOVE_METHOD", "shadow", 1);
  static const char *const wrong[] = {"12", "much", "-", "4MM", "1.5G", "M"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("NVMOVE_SHADOW_DRAM", wrong[i], 1);
    CHECK_FAILS(nvm_pool_create(test_path("pool"), 1 << 20), NVM_EARGUMENT);
    CHECK(access(test_path("pool"), F_OK) != 0);
  }
}

/* A large block's bytes are not in the log as well, and are there after a crash. */
static void fill_and_die(void *path) {
  NVM_POOL *pool = nvm_pool_create(path, 8 << 20);
  struct nvm_stats before, after;
  CHECK(pool && nvm_tx_begin(pool) == 0);
  char *block = nvm_alloc(pool, 0, 1 << 20);
  CHECK(block && nvm_pool_stats(pool, &before) == 0);
  __nvm_note(block, 1 << 20);
  memset(block, 7, 1 << 20);
  CHECK(nvm_pool_set_root(pool, block) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_stats(pool, &after) == 0);
  CHECK(after.log_bytes - before.log_bytes < 4096);
  _exit(0);
}

TEST(large_new_blocks_are_not_logged) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, fill_and_die, (void *)(uintptr_t)path) == 0);
  NVM_POOL *pool = test_open(path);
  const char *block = nvm_pool_root(pool);
  CHECK(block != NULL);
  for (size_t i = 0; i < 1 << 20; i++)
    CHECK(block[i] == 7);
  CHECK(nvm_pool_close(pool) == 0);
}
