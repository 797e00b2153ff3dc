/* repair_pairs.c: two words of runs are damaged at once: what a repair takes for mended leads from the
 * root to every block, each as it was. */
#include "harness.h"
#include "heap/heap_types.h"
#include "store.h"
#include "type_tables.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 4000, TRIES_LONG = 150, TRIES_SHORT = 8, GROUP = 200, LINK_ID = 7433 };

struct link {
  struct link *next;
  uint64_t number, rest[5];
};

static const struct nvm_field link_fields[] = {
    TEST_FIELD(link, next, NVM_FIELD_POINTER, .target = LINK_ID)};
static const struct nvm_type link_type = TEST_TYPE(LINK_ID, link, link_fields);
TEST_TYPES(described, &link_type);

/* A chain in which each second group of blocks is freed again: most spans have blocks, some none. */
static void make(const char *path) {
  static struct link *made[NODES];
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < NODES; i++) {
    made[i] = nvm_calloc(pool, LINK_ID, 1, sizeof *made[i]);
    CHECK(made[i]);
  }
  struct link *last = NULL;
  for (unsigned i = NODES; i-- > 0;) {
    if (i / GROUP % 2)
      continue;
    STORE(made[i]->number, i);
    STORE(made[i]->next, last);
    last = made[i];
  }
  CHECK(nvm_pool_set_root(pool, last) == 0 && nvm_tx_commit(pool) == 0);
  for (unsigned i = 0; i < NODES; i++)
    CHECK(i / GROUP % 2 == 0 || nvm_free(made[i]) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void check_chain(const char *path) {
  NVM_POOL *pool = test_open(path);
  unsigned found = 0;
  uint64_t before = 0;
  for (struct link *at = nvm_pool_root(pool); at; at = at->next, found++) {
    CHECK(!found || at->number > before);
    CHECK(nvm_usable_size(at) >= sizeof *at && nvm_usable_size(at) < 2 * sizeof *at);
    before = at->number;
  }
  CHECK(found == NODES / 2);
  CHECK(nvm_pool_close(pool) == 0);
}

static uint64_t word_at(int fd, off_t chunk) {
  uint64_t word;
  CHECK(pread(fd, &word, 8, NVM_CHUNKS_OFFSET + 8 * chunk) == 8);
  return word;
}

static void put_word(int fd, off_t chunk, uint64_t word) {
  CHECK(pwrite(fd, &word, 8, NVM_CHUNKS_OFFSET + 8 * chunk) == 8);
}

TEST_ONCE(repair_of_two_words_of_runs) {
  const char *path = test_path("pool");
  unsigned seed = 1 + (unsigned)test_seed(), mended = 0, spans = 0;
  unsigned tries = test_is_long() ? TRIES_LONG : TRIES_SHORT;
  make(path);
  int fd = open(path, O_RDWR);
  off_t chunk[64];
  for (off_t i = 0; i < 64; i++)
    if ((word_at(fd, i) & 0xff) == NVM_CHUNK_SMALL)
      chunk[spans++] = i;
  CHECK(spans > 8);
  for (unsigned i = 0; i < tries; i++) {
    struct nvm_repair how = {0};
    unsigned one = rand_r(&seed) % (spans - 1);
    off_t a = chunk[one], b = chunk[one + 1 + rand_r(&seed) % (spans - one - 1)];
    uint64_t first = word_at(fd, a), second = word_at(fd, b);
    put_word(fd, a, first ^ (1 + rand_r(&seed) % 255));
    put_word(fd, b, second ^ (1 + (uint64_t)rand_r(&seed) % 255) << 56);
    long long left = nvm_pool_repair(path, &how);
    CHECK(left >= 0);
    if (!left)
      check_chain(path);
    mended += !left;
    if (*how.copy)
      unlink(how.copy);
    put_word(fd, a, first);
    put_word(fd, b, second);
  }
  CHECK(mended > tries / 20);
  close(fd);
}
