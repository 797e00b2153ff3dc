/* wrap_rules.c: what the methods of nvmove/wrap.h promise beside values: which stores they refuse, what a
 * wrap costs, where new values are, and that pointers and references are looked at. */
#define _GNU_SOURCE
#include "core/pool.h"
#include "harness.h"
#include "pointer.h"
#include "workload.h"

#include "nvmove/wrap.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 4096, SMALL = 64, LARGE = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static NVM_POOL *pool;
static uint64_t *words;

static void make(void) {
  pool = test_create(test_path("pool"), 4 << 20);
  CHECK(nvm_wrap_open(pool) == 0);
  words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_wrap_close(pool) == 0);
}

static bool is(const char *method) {
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0);
  return strcmp(info.method, method) == 0;
}

static bool aliases(void) { return is("lat") || is("latb"); }

static jmp_buf out;
static void jump(enum nvm_error code, const char *message) {
  CHECK(code == NVM_EMETHOD && strstr(message, "nvm_wrap_store64") &&
        strstr(message, "NVMOVE_METHOD=shadow"));
  longjmp(out, 1);
}

static void note_one(void) { note_store(&words[5], 8); }
static void note_long(void) { __nvm_note(&words[5], 900); }
static void note_ahead(void) {
  __nvm_note_ahead(&words[7], 8);
  drain_notes();
}

/* A store that nobody could load again is refused before it is made, and the wrap can be undone. */
TEST_WRAPPED(wrapped_refuses_plain_stores) {
  static void (*const each[])(void) = {note_one, note_long, note_ahead};
  make();
  nvm_set_fatal_handler(jump);
  for (volatile unsigned i = 0; i < sizeof each / sizeof *each; i++) {
    CHECK(nvm_wrap_open(pool) == 0);
    nvm_wrap_store64(&words[1], 1);
    bool refused = setjmp(out);
    if (!refused)
      each[i]();
    CHECK(refused == aliases());
    CHECK(nvm_tx_abort(pool) == 0 && nvm_wrap_load64(&words[1]) == 0);
  }
  nvm_set_fatal_handler(NULL);
  CHECK(nvm_wrap_open(pool) == 0);
  nvm_wrap_store64(&words[1], 2);
  CHECK(nvm_wrap_close(pool) == 0 && words[1] == 2 && nvm_pool_close(pool) == 0);
}

/* A new block is in place at once: code that fills it by plain stores, which nvmove-cc notes, may do so
 * before and after wrapped ones. */
TEST_WRAPPED(wrapped_new_block_by_plain_stores) {
  static const size_t sizes[] = {SMALL, LARGE, 100000};
  make();
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    CHECK(nvm_wrap_open(pool) == 0);
    char *block = nvm_alloc(pool, 0, sizes[i]);
    CHECK(block != NULL);
    nvm_wrap_store64(block, 1);
    STORE(block[0], 2);
    STORE(block[8], 3);
    nvm_wrap_store64(block + 16, 4);
    store_bytes(block + 24, block, 9);
    CHECK(nvm_wrap_load64(block) == 2 && nvm_wrap_load64(block + 24) == 2);
    nvm_wrap_store64(&words[i], (uint64_t)(uintptr_t)block);
    CHECK(nvm_wrap_close(pool) == 0);
    CHECK(block[0] == 2 && block[8] == 3 && block[16] == 4 && block[24] == 2 && block[32] == 3);
  }
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const char *block = (const char *)(uintptr_t)words[i];
    CHECK(block[0] == 2 && block[8] == 3 && block[16] == 4 && block[24] == 2 && block[32] == 3);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static void store_plainly(void *unused) {
  (void)unused;
  make();
  words[5] = 0;
  note_one();
}

/* Without a handler the process stops, and says what to do. */
TEST_WRAPPED(wrapped_stops_at_a_plain_store) {
  char said[1000];
  int status = test_child_says(store_plainly, NULL, said, sizeof said);
  bool stopped = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  pool = test_open(test_path("pool"));
  CHECK(stopped == aliases());
  if (stopped)
    CHECK(strstr(said, test_path("pool")) && strstr(said, "nvm_wrap_store64") &&
          strstr(said, "NVMOVE_METHOD=undo"));
  CHECK(nvm_pool_close(pool) == 0);
}

/* Where new values are: with lat in the table until the close, with latb until a block is read that has
 * one, or a block is stored, or there are many. */
TEST_WRAPPED(wrapped_values_in_place) {
  make();
  CHECK(nvm_wrap_open(pool) == 0);
  nvm_wrap_store64(&words[9], 3);
  uint64_t block[2];
  volatile uint64_t *plain = words; /* as no program with lat or latb does */
  CHECK((plain[9] == 3) == !aliases());
  nvm_wrap_read(block, &words[90], sizeof block);
  CHECK((plain[9] == 3) == !aliases());
  nvm_wrap_read(block, &words[8], sizeof block);
  CHECK(block[1] == 3 && (plain[9] == 3) == !is("lat"));
  nvm_wrap_store64(&words[10], 4);
  CHECK((plain[10] == 4) == !aliases());
  nvm_wrap_write(&words[200], block, sizeof block);
  CHECK((plain[10] == 4) == !is("lat") && (plain[201] == 3) == !is("lat"));
  for (unsigned i = 0; i < 64; i++)
    nvm_wrap_store64(&words[300 + 8 * i], i + 1);
  CHECK((plain[300] == 1) == !is("lat"));
  CHECK(nvm_wrap_close(pool) == 0 && plain[9] == 3 && plain[300] == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A wrap of `count` stores, each to a line of its own: fences and frames. They repeat; times do not. */
static struct nvm_stats cost(unsigned count, bool by_blocks) {
  struct nvm_stats before, now;
  uint64_t pair[2] = {count, 1};
  nvm_pool_stats(pool, &before);
  CHECK(nvm_wrap_open(pool) == 0);
  for (unsigned i = 0; i < count; i++)
    if (by_blocks)
      nvm_wrap_write(&words[16 * i], pair, sizeof pair);
    else
      nvm_wrap_store64(&words[16 * i], count + i);
  CHECK(nvm_wrap_close(pool) == 0);
  nvm_pool_stats(pool, &now);
  return (struct nvm_stats){.fences = now.fences - before.fences,
                            .log_entries = now.log_entries - before.log_entries};
}

TEST_WRAPPED(wrapped_fences) {
  struct nvm_info info;
  make();
  CHECK(nvm_pool_info(pool, &info) == 0);
  for (unsigned count = 1; count <= 64; count *= 4) {
    struct nvm_stats s = cost(count, false);
    bool checked = info.domain != NVM_DOMAIN_PROCESS && count <= 16;
    unsigned end = checked ? 1 : 2; /* of a commit with undo */
    CHECK(s.fences == (is("undo") ? count + end : is("latb") ? 1 + end : 1));
    CHECK(s.log_entries == (is("undo") || is("latb") ? count + (checked ? 2 : 1) : 1));
    s = cost(count, true);
    CHECK(s.fences == (is("undo") || is("latb") ? count + end : 1));
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* Bytes of a new large block are not logged, and are there. */
TEST_WRAPPED(wrapped_large_block) {
  enum { SIZE = 600000 };
  static char bytes[SIZE];
  struct nvm_stats before, now;
  make();
  memset(bytes, 'x', sizeof bytes);
  nvm_pool_stats(pool, &before);
  CHECK(nvm_wrap_open(pool) == 0);
  char *block = nvm_alloc(pool, 0, SIZE);
  CHECK(block != NULL);
  nvm_wrap_write(block, bytes, SIZE);
  nvm_wrap_store64(block + 80, 7);
  nvm_wrap_store64(&words[0], (uint64_t)(uintptr_t)block);
  CHECK(nvm_wrap_close(pool) == 0);
  nvm_pool_stats(pool, &now);
  CHECK(now.log_bytes - before.log_bytes < 1000);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  block = (char *)(uintptr_t)words[0];
  memset(bytes + 80, 0, 8);
  bytes[80] = 7;
  CHECK(memcmp(block, bytes, SIZE) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static struct progress *progress;

/* The first of many new blocks: what the transaction has noted of it left the table of lines, or it is
 * remembered as new no more, when it is stored to again. A line of one large block is enough for the first,
 * if it has the same slot; then the record is short. */
struct blocks {
  size_t size;
  unsigned others;
  bool is_one_large; /* beside the others */
  bool releases;     /* a lock, before the wrap closes */
};

static void take_slot_of(const char *address) {
  enum { APART = NVM_LINE_SLOTS * NVM_LINE_SIZE };
  char *large = nvm_alloc(pool, 0, APART + NVM_LINE_SIZE);
  CHECK(large != NULL);
  uintptr_t distance = ((uintptr_t)address - (uintptr_t)large) % APART;
  nvm_wrap_store64(large + distance / 8 * 8, 77);
}

static void fill_blocks(void *argument) {
  const struct blocks *blocks = argument;
  size_t size = blocks->size;
  char bytes[LARGE], later[16];
  if (access(test_path("pool"), F_OK) != 0)
    make();
  else
    CHECK((pool = test_open(test_path("pool"))) && (words = nvm_pool_root(pool)));
  CHECK(nvm_wrap_open(pool) == 0);
  memset(bytes, 'a', sizeof bytes);
  memset(later, 'b', sizeof later);
  char *first = nvm_alloc(pool, 0, size);
  nvm_wrap_write(first, bytes, size);
  for (unsigned i = 0; i < blocks->others; i++)
    CHECK(nvm_alloc(pool, 0, size) != NULL);
  if (blocks->is_one_large)
    take_slot_of(first);
  const struct nvm_line *slot = &__nvm_lines->slot[(uintptr_t)first / 64 % NVM_LINE_SLOTS];
  CHECK(slot->line != (uintptr_t)first / 64 || size == LARGE);
  nvm_wrap_write(first + 8, later, sizeof later);
  nvm_wrap_store64(first, 1);
  memset(bytes + 8, 'b', sizeof later);
  memset(bytes, 0, 8);
  bytes[0] = 1;
  char seen[LARGE];
  nvm_wrap_read(seen, first, size);
  CHECK(memcmp(seen, bytes, size) == 0);
  if (blocks->releases) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
  }
  nvm_wrap_read(seen, first, size);
  CHECK(memcmp(seen, bytes, size) == 0);
  nvm_wrap_store64(&words[3], (uint64_t)(uintptr_t)first);
  CHECK(nvm_wrap_close(pool) == 0);
  progress->acknowledged = 1;
  CHECK(nvm_pool_close(pool) == 0);
}

static void check_blocks(const struct blocks *blocks) {
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  const char *first = words ? (const char *)(uintptr_t)words[3] : NULL;
  CHECK(first || !progress->acknowledged);
  CHECK(!words || test_blocks(pool) == (first ? 2 + blocks->others + blocks->is_one_large : 1));
  for (size_t i = 0; first && i < blocks->size; i++)
    CHECK(first[i] == (i == 0 ? 1 : i < 8 ? 0 : i < 24 ? 'b' : 'a'));
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

TEST_WRAPPED(wrapped_new_blocks_killed) {
  struct blocks each[] = {{SMALL, 700, false, false},
                          {LARGE, 700, false, false},
                          {SMALL, 0, true, false},
                          {SMALL, 0, true, true},
                          {LARGE, 20, false, true}};
  for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
    for (unsigned n = 1, killed = true; killed; n++) {
      char kill[64];
      snprintf(kill, sizeof kill, "commit:%u", n);
      progress = progress_new();
      killed = test_was_killed(test_child(kill, fill_blocks, &each[i]));
      CHECK(killed || progress->acknowledged);
      check_blocks(&each[i]);
      unlink(test_path("pool"));
    }
}

static struct pointer *make_pointer(void) {
  describe_pointer();
  make();
  CHECK(nvm_wrap_open(pool) == 0);
  struct pointer *block = nvm_alloc(pool, POINTER_ID, sizeof *block);
  CHECK(block != NULL);
  nvm_wrap_store64(&block->to, 0);
  nvm_wrap_store64(&words[3], (uint64_t)(uintptr_t)block);
  CHECK(nvm_wrap_close(pool) == 0);
  return block;
}

static void store_pointer(struct pointer *block, void *to, bool releases) {
  pthread_mutex_lock(&lock);
  nvm_wrap_store64(&block->to, (uint64_t)(uintptr_t)to);
  if (releases)
    pthread_mutex_unlock(&lock);
}

/* Pointers are judged as they are when the wrap closes, in the table or handed over. */
TEST_WRAPPED(wrapped_unsafe_pointer) {
  struct pointer *block = make_pointer();
  static int local;
  for (unsigned released = 0; released < 2; released++) {
    CHECK(nvm_wrap_open(pool) == 0);
    store_pointer(block, &local, released);
    CHECK_FAILS(nvm_wrap_close(pool) == 0, NVM_EUNSAFE);
    CHECK(strstr(nvm_strerror(), "struct pointer"));
    CHECK(nvm_wrap_load64(&block->to) == 0);
    if (!released)
      pthread_mutex_unlock(&lock);
    CHECK(nvm_wrap_open(pool) == 0);
    store_pointer(block, &local, released);
    nvm_wrap_store64(&block->to, (uint64_t)(uintptr_t)words);
    CHECK(nvm_wrap_close(pool) == 0 && block->to == words);
    if (!released)
      pthread_mutex_unlock(&lock);
    CHECK(nvm_wrap_open(pool) == 0);
    nvm_wrap_store64(&block->to, 0);
    CHECK(nvm_wrap_close(pool) == 0);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* The same where the pointer is in place, in a new block, and in the table. */
TEST_WRAPPED(wrapped_unsafe_pointer_of_a_new_block) {
  make_pointer();
  static int local;
  for (unsigned last_is_unsafe = 0; last_is_unsafe < 2; last_is_unsafe++) {
    void *others[560];
    CHECK(nvm_wrap_open(pool) == 0);
    struct pointer *block = nvm_alloc(pool, POINTER_ID, sizeof *block);
    void *to[] = {&local, words};
    nvm_wrap_store64(&block->to, (uint64_t)(uintptr_t)to[last_is_unsafe]);
    for (unsigned i = 0; i < 560; i++) /* the block's line leaves the table of lines */
      CHECK((others[i] = nvm_alloc(pool, 0, SMALL)) != NULL);
    for (unsigned i = 0; i < 560; i++)
      CHECK(nvm_free(others[i]) == 0);
    nvm_wrap_store64(&block->to, (uint64_t)(uintptr_t)to[!last_is_unsafe]);
    nvm_wrap_store64(&words[4], (uint64_t)(uintptr_t)block);
    if (last_is_unsafe)
      CHECK_FAILS(nvm_wrap_close(pool) == 0, NVM_EUNSAFE);
    else
      CHECK(nvm_wrap_close(pool) == 0 && block->to == words);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* References that wraps make and take away are counted. */
TEST_WRAPPED(wrapped_references) {
  struct pointer *block = make_pointer();
  uint64_t freed;
  CHECK(nvm_pool_count_references(pool) == 0);
  for (unsigned round = 0; round < 3; round++) {
    CHECK(nvm_wrap_open(pool) == 0);
    struct pointer *next = nvm_alloc(pool, POINTER_ID, sizeof *next);
    nvm_wrap_store64(&next->to, 0);
    nvm_wrap_store64(&block->to, (uint64_t)(uintptr_t)next);
    if (round == 1) { /* handed over in between */
      store_pointer(block, NULL, true);
      store_pointer(block, next, true);
    }
    CHECK(nvm_wrap_close(pool) == 0);
    CHECK(nvm_pool_release(pool, &freed) == 0 && freed == (round ? 1 : 0));
    CHECK(block->to == next && test_blocks(pool) == 3);
  }
  CHECK(nvm_wrap_open(pool) == 0);
  nvm_wrap_store64(&block->to, 0);
  CHECK(nvm_wrap_close(pool) == 0);
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 1 && test_blocks(pool) == 2);
  CHECK(nvm_pool_close(pool) == 0);
}
