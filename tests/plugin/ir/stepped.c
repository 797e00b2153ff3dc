// A signal handler stores in front of each instruction of a transaction: to lines of its own, and to lines that take
// the slots of the program's in the table of noted lines. An abort takes back all of the program's stores, a commit
// keeps them. In short runs each method has every second instruction. -O2 and -O3 have the test of the table inline,
// -O0 calls it.
// RUN: %cc -O0 %s -o %t.0 && rm -f %t.pool && env NVMOVE_METHOD=undo %t.0 %t.pool && env NVMOVE_METHOD=shadow %t.0 second %t.pool
// RUN: %cc -O2 %s -o %t.2 && env NVMOVE_METHOD=undo %t.2 %t.pool && env NVMOVE_METHOD=shadow %t.2 second %t.pool
// RUN: %cc -O3 %s -o %t.3 && env NVMOVE_METHOD=undo %t.3 %t.pool && env NVMOVE_METHOD=shadow %t.3 second %t.pool
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                                              \
  do {                                                                                                                \
    if (!(condition)) {                                                                                               \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                         \
      _exit(1);                                                                                                       \
    }                                                                                                                 \
  } while (0)
#include "../../runtime/harness/stepping.h"

enum { WORDS = 8, TABLE_WORDS = 32768 / 8 };

static const char *path;
static NVM_POOL *pool;
static struct root {
  unsigned long words[WORDS], gap[TABLE_WORDS - WORDS]; // the handler's words have the same slots
  unsigned long handlers[WORDS], ends[WORDS];
} *root;
static unsigned long value;
static volatile int came;

static void store(int number) {
  (void)number;
  for (int i = 0; i < WORDS; i++)
    root->handlers[i] = root->ends[i] = value;
  came++;
}

static int are(const unsigned long *words, unsigned long expected) {
  for (int i = 0; i < WORDS; i++)
    if (words[i] != expected)
      return 0;
  return 1;
}

// Two stores to a word: the second finds it noted. A loop, and stores one by one.
__attribute__((noinline)) static void change(struct root *r, unsigned long to) {
  r->words[0] = to + 1;
  r->words[3] = to + 1;
  for (int i = WORDS - 1; i >= 0; i--) {
    r->words[i] = to + 1;
    *(volatile unsigned long *)&r->words[i] = to;
  }
}

static void repeat(void) {
  CHECK((pool = nvm_pool_open(path)));
  root = nvm_pool_root(pool);
  for (value = 1;; value++) {
    came = 0;
    stop();
    nvm_tx_begin(pool);
    change(root, value + 7);
    nvm_tx_abort(pool);
    CHECK(are(root->words, value - 1));
    nvm_tx_begin(pool);
    change(root, value);
    CHECK(nvm_tx_commit(pool) == 0 && are(root->words, value));
    stop();
    CHECK(nvm_pool_close(pool) == 0 && (pool = nvm_pool_open(path)));
    root = nvm_pool_root(pool);
    CHECK(are(root->words, value) && came <= 1);
  }
}

int main(int argc, char **argv) {
  path = argv[argc - 1];
  unlink(path);
  CHECK((pool = nvm_pool_create(path, 1 << 20)) && nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  signal(SIGUSR1, store);
  step_through(repeat, 1, getenv("NVMOVE_TEST_LONG") ? 1 : 2, argc > 2);
  return 0;
}
