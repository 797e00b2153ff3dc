/* counted_holes.c: damage that takes an activation record, or a batch, away: the tables are made anew, and no
 * block is freed that something leads to (gc/counts_log.c, gc/counts.c).
 */
#include "gc/counts.h"
#include "harness.h"
#include "store.h"
#include "type_tables.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { LINK_ID = 3341, LINKS = 8, COMMITS = 6 };

struct link {
  struct link *next;
};
static const struct nvm_field fields[] = {TEST_FIELD(link, next, NVM_FIELD_POINTER)};
static const struct nvm_type link_type = TEST_TYPE(LINK_ID, link, fields);
TEST_TYPES(described, &link_type);

static struct link *root_of(NVM_POOL *pool) { return nvm_pool_root(pool); }

/* Two blocks, each of which one link of the root leads to. */
static NVM_POOL *make(void) {
  unlink(test_path("pool"));
  NVM_POOL *pool = test_create(test_path("pool"), 6 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct link *links = nvm_calloc(pool, LINK_ID, LINKS, sizeof *links);
  CHECK(links && nvm_pool_set_root(pool, links) == 0);
  for (unsigned i = 0; i < 2; i++)
    CHECK((links[i].next = nvm_calloc(pool, LINK_ID, 1, sizeof *links)));
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_count_references(pool) == 0);
  return pool;
}

/* The first block gets further links and loses its first one, the second block the other way round. */
static void lead(NVM_POOL *pool, unsigned i) {
  struct link *links = root_of(pool), *to = links[i % 2 ? 0 : 1].next;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(links[2 + i].next, to);
  CHECK(nvm_tx_commit(pool) == 0);
}

static struct {
  uint64_t ring, head, from, end; /* places in the file, positions in lines */
} where;

/* Nothing that something leads to is freed, and afterwards the counts are right. */
static void check_kept(bool is_stale) {
  NVM_POOL *pool = test_open(test_path("pool"));
  uint64_t freed = 0;
  CHECK(nvmi_counts_stale(pool->counts) == is_stale);
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 0 && !nvmi_counts_stale(pool->counts));
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"counts") == 0);
  CHECK(test_blocks(pool) == 3);
  CHECK(nvm_pool_close(pool) == 0);
}

static void commit_and_die(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_open(test_path("pool"));
  for (unsigned i = 0; i < COMMITS; i++)
    lead(pool, i);
  raise(SIGKILL);
}

static void make_and_kill(void) {
  NVM_POOL *pool = make();
  where.ring = (uint64_t)(pool->counts->ring - pool->home);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK(test_was_killed(test_child(NULL, commit_and_die, NULL)));
}

/* Each is one line, as the first lines of the log are used. */
TEST(counted_record_that_is_missing) {
  for (unsigned i = 0; i + 1 < COMMITS; i++) {
    make_and_kill();
    test_flip(where.ring + i * NVM_RING_LINE + offsetof(struct nvm_activation, behind), 4);
    check_kept(true);
  }
}

TEST(counted_records_that_are_all_there) {
  make_and_kill();
  check_kept(false);
}

static uint64_t newest_batch(uint64_t head) {
  struct nvm_batch both[2];
  uint64_t at = head + sizeof(struct nvm_counts);
  int fd = open(test_path("pool"), O_RDONLY);
  for (unsigned i = 0; i < 2; i++)
    CHECK(pread(fd, &both[i], sizeof both[i], (off_t)(at + i * NVM_BATCH_SIZE)) == sizeof both[i]);
  CHECK(close(fd) == 0);
  return at + (both[1].sequence > both[0].sequence) * NVM_BATCH_SIZE;
}

/* Closed, or left by a process that had changed nothing: the older batch has counts of before. */
TEST(counted_batch_that_is_missing) {
  for (unsigned killed = 0; killed < 2; killed++) {
    NVM_POOL *pool = make();
    uint64_t head = pool->header.counts;
    for (unsigned i = 0; i < COMMITS; i++) {
      lead(pool, i);
      nvmi_counts_drain(pool);
    }
    CHECK(nvm_pool_close(pool) == 0);
    if (killed)
      CHECK(test_was_killed(test_child(NULL, commit_and_die, NULL)));
    test_flip(newest_batch(head) + offsetof(struct nvm_batch, position), 4);
    check_kept(true);
  }
}

/* Tables that are not exact do not become it by a bit. */
TEST(counted_stale_in_spite_of_damage) {
  for (unsigned bit = 0; bit < 64; bit++) {
    NVM_POOL *pool = make();
    uint64_t at = pool->header.counts + offsetof(struct nvm_counts, exact);
    lead(pool, 0);
    nvmi_counts_spoil(pool);
    lead(pool, 1);
    uint64_t word = pool->counts->head->exact ^ UINT64_C(1) << bit;
    CHECK(nvm_pool_close(pool) == 0);
    int fd = open(test_path("pool"), O_WRONLY);
    CHECK(pwrite(fd, &word, sizeof word, (off_t)at) == sizeof word && close(fd) == 0);
    check_kept(true);
  }
}
