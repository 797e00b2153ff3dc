/* basic.c: what the functions of nvmove.h promise when nothing goes wrong. */
#include "harness.h"
#include "store.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Breeze's figures 4 and 5, as printed but for `char data[32]` and the notes that nvmove-cc adds.
 */
typedef NVM_STRUCT Node {
  NVM_PTR(struct Node) next;
  char data[32];
}
Node;

TEST(list_of_the_paper) {
  size_t pool_size = (off_t)1 << 20;
  NVM_POOL *pop = test_create(test_path("pool"), pool_size);
  Node *head = NULL;
  for (int i = 0; i < 10; i++) {
    nvm_tx_begin(pop);
    Node *t = nvm_alloc(pop, NVM_TYPE_ID(Node), sizeof(Node));
    if (t == NULL) {
      nvm_tx_abort(pop);
      break;
    }
    STORE(t->next, head);
    __nvm_note(t->data, 12);
    strcpy(t->data, "Hello world");
    head = t;
    nvm_pool_set_root(pop, head);
    nvm_tx_commit(pop);
  }
  nvm_pool_close(pop);
  pop = test_open(test_path("pool"));
  int count = 0;
  for (Node *node = nvm_pool_root(pop); node; node = node->next, count++)
    CHECK(strcmp(node->data, "Hello world") == 0);
  CHECK(count == 10);
  CHECK(nvm_pool_close(pop) == 0);
  test_check_pool(test_path("pool"));
}

static uint64_t *make_words(NVM_POOL *pool, size_t count) {
  nvm_tx_begin(pool);
  uint64_t *words = nvm_calloc(pool, 0, count, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0);
  CHECK(nvm_tx_commit(pool) == 0);
  return words;
}

TEST(abort_brings_back) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  uint64_t *words = make_words(pool, 1000);
  CHECK(nvm_tx_begin(pool) == 0);
  for (int i = 0; i < 1000; i++)
    STORE(words[i], i + 1u);
  void *block = nvm_alloc(pool, 0, 100);
  STORE(*(uint64_t *)block, 1);
  CHECK(nvm_tx_abort(pool) == 0);
  for (int i = 0; i < 1000; i++)
    CHECK(words[i] == 0);
  CHECK_FAILS(nvm_free(block) == 0, NVM_EDOUBLEFREE); /* it was never allocated */
  CHECK(nvm_pool_close(pool) == 0);
}

TEST(nesting_is_flat) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  uint64_t *words = make_words(pool, 8);
  struct nvm_stats before, after;
  nvm_pool_stats(pool, &before);
  nvm_tx_begin(pool);
  STORE(words[0], 1);
  nvm_tx_begin(pool);
  STORE(words[1], 2);
  CHECK(nvm_tx_commit(pool) == 0);
  nvm_pool_stats(pool, &after);
  CHECK(after.commits == before.commits);
  CHECK(nvm_tx_commit(pool) == 0);
  nvm_tx_begin(pool);
  STORE(words[0], 10);
  nvm_tx_begin(pool);
  STORE(words[1], 20);
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(words[0] == 1 && words[1] == 2);
  STORE(words[2], 30);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EABORTED);
  CHECK(words[2] == 0);
  nvm_tx_begin(pool);
  STORE(words[2], 3);
  CHECK(nvm_tx_commit(pool) == 0 && words[2] == 3);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOTX);
  CHECK_FAILS(nvm_tx_abort(pool) == 0, NVM_ENOTX);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Stores outside a transaction are committed by the next begin, counted, and there after a restart.
 */
TEST(stores_outside_transactions) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  uint64_t *words = make_words(pool, 8);
  STORE(words[0], 1);
  struct nvm_stats stats;
  CHECK(nvm_tx_begin(pool) == 0);
  nvm_pool_stats(pool, &stats);
  CHECK(stats.implicit_commits == 1);
  CHECK(nvm_tx_commit(pool) == 0);
  STORE(words[1], 2);
  __nvm_commit_point();
  nvm_pool_stats(pool, &stats);
  CHECK(stats.implicit_commits == 2);
  STORE(words[2], 3);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  CHECK(words[0] == 1 && words[1] == 2 && words[2] == 3);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Also what is noted in one piece: of an old block, or a new one. */
TEST(split_points_count_lines) {
  enum { SIZE = 512 << 10 };
  NVM_POOL *pool = test_create(test_path("pool"), 8 << 20);
  char *old = (char *)make_words(pool, SIZE / sizeof(uint64_t)), bytes[SIZE];
  struct nvm_stats stats;
  memset(bytes, 1, sizeof bytes);
  store_bytes(old, bytes, sizeof bytes);
  __nvm_split_point();
  nvm_pool_stats(pool, &stats);
  CHECK(stats.implicit_commits == 1);
  char *made = nvm_alloc(pool, 0, SIZE);
  store_bytes(made, bytes, sizeof bytes);
  __nvm_split_point();
  nvm_pool_stats(pool, &stats);
  CHECK(stats.implicit_commits == 2);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A split point commits what is long, and neither a few lines nor in a transaction. */
TEST(split_points) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  bool on_disk = test_is_on_disk(pool);
  enum { LINES = 5000, STRIDE = 8 };
  uint64_t *words = make_words(pool, LINES * STRIDE);
  struct nvm_stats stats;
  unsigned lines = 0;
  __nvm_split_point();
  do {
    STORE(words[STRIDE * lines++], 1);
    __nvm_split_point();
    nvm_pool_stats(pool, &stats);
  } while (!stats.implicit_commits && lines < LINES);
  CHECK(on_disk ? lines > 3000 && lines < LINES : lines > 30 && lines < 100);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < LINES; i++)
    STORE(words[STRIDE * i], 2);
  __nvm_split_point();
  CHECK(nvm_tx_abort(pool) == 0 && words[0] == 1);
  STORE(words[0], 3);
  __nvm_split_point();
  nvm_pool_stats(pool, &stats);
  CHECK(stats.implicit_commits == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

static __attribute__((noinline)) void atomic_inner(uint64_t *words) {
  void *frame = __builtin_frame_address(0);
  __nvm_atomic_enter(frame);
  STORE(words[1], words[1] + 1);
  __nvm_atomic_leave(frame);
}

static __attribute__((noinline)) void atomic_outer(uint64_t *words, bool leave) {
  void *frame = __builtin_frame_address(0);
  __nvm_atomic_enter(frame);
  STORE(words[0], words[0] + 1);
  atomic_inner(words);
  __nvm_commit_point(); /* inside an atomic call: nothing */
  if (leave)
    __nvm_atomic_leave(frame);
}

TEST(atomic_calls) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  uint64_t *words = make_words(pool, 8);
  struct nvm_stats before, after;
  nvm_pool_stats(pool, &before);
  atomic_outer(words, true);
  nvm_pool_stats(pool, &after);
  CHECK(after.commits == before.commits + 1);
  atomic_outer(words, false); /* as longjmp leaves it */
  __nvm_atomic_landed(__builtin_frame_address(0));
  nvm_pool_stats(pool, &after);
  CHECK(after.commits == before.commits + 2 && words[0] == 2 && words[1] == 2);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A transaction of 3 MB in a pool that begins with 1: the log and the pool grow. */
TEST(long_transaction) {
  enum { WORDS = 100000 };
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  uint64_t *words = make_words(pool, WORDS);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(words[i], i);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  __nvm_note(words, WORDS * sizeof *words);
  memset(words, 0xff, WORDS * sizeof *words);
  CHECK(nvm_tx_abort(pool) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    CHECK(words[i] == i);
  CHECK(nvm_tx_begin(pool) == 0);
  __nvm_note((char *)words + 3, WORDS * sizeof *words - 7);
  memset((char *)words + 3, 0xff, WORDS * sizeof *words - 7);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
  for (unsigned i = 1; i < WORDS - 1; i++)
    CHECK(words[i] == UINT64_MAX);
  CHECK(words[0] == 0xffffffffff000000u && words[WORDS - 1] == 0xffffffffu);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

/* Rolling back or committing one byte leaves its neighbours alone. */
TEST(exact_to_the_byte) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  unsigned char *bytes = (unsigned char *)make_words(pool, 8);
  nvm_tx_begin(pool);
  STORE(bytes[5], 1);
  bytes[4] = 77; /* as another thread would, under its own lock and log */
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(bytes[5] == 0 && bytes[4] == 77);
  nvm_tx_begin(pool);
  STORE(bytes[5], 2);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(bytes[5] == 2 && bytes[4] == 77);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST(two_pools) {
  NVM_POOL *a = test_create(test_path("a"), 1 << 20), *b = test_create(test_path("b"), 1 << 20);
  uint64_t *in_a = make_words(a, 8), *in_b = make_words(b, 8);
  CHECK(nvm_pool_of(in_a) == a && nvm_pool_of(in_b) == b && nvm_pool_of(&in_a) == NULL);
  CHECK_FAILS(nvm_pool_set_root(a, in_b) == 0, NVM_EUNSAFE);
  nvm_tx_begin(a);
  STORE(in_a[0], 1);
  STORE(in_b[0], 2);
  CHECK(nvm_tx_commit(a) == 0);
  nvm_tx_begin(b);
  STORE(in_a[0], 10);
  STORE(in_b[0], 20);
  CHECK(nvm_tx_abort(b) == 0);
  CHECK(in_a[0] == 1 && in_b[0] == 2);
  CHECK(nvm_pool_close(a) == 0 && nvm_pool_close(b) == 0);
  b = test_open(test_path("b"));
  CHECK(((uint64_t *)nvm_pool_root(b))[0] == 2);
  CHECK(nvm_pool_close(b) == 0);
}
