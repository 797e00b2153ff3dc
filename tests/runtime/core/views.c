/* views.c: what the program sees of a pool so large that the part of its view which was never used
 * is made of huge pages: zeros at first, a snapshot for a child, taken back by an abort, the file's
 * after a restart.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POOL = 32 << 20, BLOCKS = 2000, BLOCK = 4000 };

static char *blocks[BLOCKS];

static bool all_hold(char byte) {
  for (unsigned i = 0; i < BLOCKS; i++)
    if (blocks[i][0] != byte || memcmp(blocks[i], blocks[i] + 1, BLOCK - 1) != 0)
      return false;
  return true;
}

static void store_all(char byte) {
  for (unsigned i = 0; i < BLOCKS; i++) {
    note_store(blocks[i], BLOCK);
    memset(blocks[i], byte, BLOCK);
  }
}

static void set_all(NVM_POOL *pool, char byte) {
  CHECK(nvm_tx_begin(pool) == 0);
  store_all(byte);
  CHECK(nvm_tx_commit(pool) == 0);
}

static NVM_POOL *make(void) {
  NVM_POOL *pool = test_create(test_path("pool"), POOL);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < BLOCKS; i++)
    CHECK((blocks[i] = nvm_calloc(pool, 0, 1, BLOCK)));
  CHECK(nvm_tx_commit(pool) == 0 && all_hold(0));
  return pool;
}

TEST(large_view_after_restart) {
  NVM_POOL *pool = make();
  set_all(pool, 'a');
  CHECK(nvm_tx_begin(pool) == 0);
  store_all('b');
  CHECK(nvm_tx_abort(pool) == 0 && all_hold('a'));
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  CHECK(all_hold('a'));
  CHECK(nvm_alloc(pool, 0, BLOCK) != NULL); /* from here on the heap is known */
  CHECK(all_hold('a'));
  set_all(pool, 'c');
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  CHECK(all_hold('c') && nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

static void allocate_and_die(void *path) {
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < BLOCKS; i++) {
    char *block = nvm_calloc(pool, 0, 1, BLOCK);
    CHECK(block != NULL);
    note_store(block, BLOCK);
    memset(block, 'x', BLOCK);
  }
  _exit(0);
}

/* What nobody committed is not there: zeroed memory is zero. */
TEST(large_view_forgets) {
  CHECK(nvm_pool_close(make()) == 0);
  CHECK(test_child(NULL, allocate_and_die, (void *)(uintptr_t)test_path("pool")) == 0);
  NVM_POOL *pool = test_open(test_path("pool"));
  CHECK(test_blocks(pool) == BLOCKS && all_hold(0));
  for (unsigned round = 0; round < 2; round++) {
    char *more[BLOCKS];
    CHECK(nvm_tx_begin(pool) == 0);
    for (unsigned i = 0; i < BLOCKS; i++) {
      CHECK((more[i] = nvm_calloc(pool, 0, 1, BLOCK)) && !more[i][0]);
      CHECK(memcmp(more[i], more[i] + 1, BLOCK - 1) == 0);
      note_store(more[i], BLOCK);
      memset(more[i], 'y', BLOCK);
    }
    CHECK(nvm_tx_abort(pool) == 0 && test_blocks(pool) == BLOCKS);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

/* Shadow: later commits of the parent do not reach a child; nor the other way round. */
TEST(large_view_of_a_child) {
  NVM_POOL *pool = make();
  bool shadow = test_is_shadow(pool);
  set_all(pool, 'p');
  int go[2];
  CHECK(pipe(go) == 0);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    char word;
    CHECK(close(go[1]) == 0 && read(go[0], &word, 1) == 1);
    CHECK(!shadow || all_hold('p'));
    _exit(0);
  }
  set_all(pool, 'q');
  int status;
  CHECK(write(go[1], "g", 1) == 1 && waitpid(pid, &status, 0) == pid && status == 0);
  CHECK(all_hold('q') && nvm_pool_close(pool) == 0);
}
