/* counted_tables.c: what the file says of reference counts: batches, whether they are stale, whether
 * all that could be freed was (gc/counts.h). */
#include "gc/counts.h"
#include "harness.h"
#include "nvmove/repair.h"
#include "simulation.h"
#include "store.h"
#include "type_tables.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINK_ID = 3261, NEW_ID, LINKS = 8, BLOCK = 200000 };

struct link {
  struct link *next;
};
static const struct nvm_field fields[] = {
    {.name = "next", .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER}};
#define TYPE(number, text)                                                                         \
  {.id = number,                                                                                   \
   .name = text,                                                                                   \
   .members = "",                                                                                  \
   .size = sizeof(struct link),                                                                    \
   .alignment = 8,                                                                                 \
   .field_count = 1,                                                                               \
   .fields = fields}
static const struct nvm_type link_type = TYPE(LINK_ID, "struct link"),
                             new_type = TYPE(NEW_ID, "struct new_link");
TEST_TYPES(described, &link_type);
static const struct nvm_type *const described_later[] = {&new_type};

static struct link *root_of(NVM_POOL *pool) { return nvm_pool_root(pool); }

/* The root's links are null, but for those that lead to a block each. */
static NVM_POOL *make(const char *path, unsigned led) {
  NVM_POOL *pool = test_create(path, 6 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct link *links = nvm_calloc(pool, LINK_ID, LINKS, sizeof *links);
  CHECK(links && nvm_pool_set_root(pool, links) == 0);
  for (unsigned i = 0; i < led; i++)
    CHECK((links[i].next = nvm_calloc(pool, LINK_ID, 1, sizeof *links)));
  CHECK(nvm_tx_commit(pool) == 0);
  return pool;
}

static void lead(NVM_POOL *pool, unsigned link, struct link *to) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root_of(pool)[link].next, to);
  CHECK(nvm_tx_commit(pool) == 0);
}

static void verify(NVM_POOL *pool) {
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"counts") == 0);
}

/* A batch that a crash tore, behind the newest that is whole. */
static void tear_next_batch(const char *path, uint64_t head) {
  struct {
    struct nvm_batch batch;
    struct nvm_count count;
  } both[2], *newest;
  int fd = open(path, O_RDWR);
  uint64_t at = head + sizeof(struct nvm_counts);
  for (unsigned i = 0; i < 2; i++)
    CHECK(pread(fd, &both[i], sizeof both[i], (off_t)(at + i * NVM_BATCH_SIZE)) == sizeof both[i]);
  newest = &both[both[1].batch.sequence > both[0].batch.sequence];
  CHECK(newest->batch.count);
  newest->batch.sequence++;
  newest->batch.count = 1;
  newest->count.value += 3;
  at += (newest->batch.sequence & 1) * NVM_BATCH_SIZE;
  CHECK(pwrite(fd, newest, sizeof *newest, (off_t)at) == sizeof *newest && close(fd) == 0);
}

TEST(counted_torn_batch_says_nothing) {
  NVM_POOL *pool = make(test_path("pool"), 2);
  CHECK(nvm_pool_count_references(pool) == 0);
  lead(pool, 2, root_of(pool)[0].next);
  nvmi_counts_drain(pool);
  uint64_t head = pool->header.counts;
  CHECK(nvm_pool_close(pool) == 0);
  tear_next_batch(test_path("pool"), head);
  pool = test_open(test_path("pool"));
  verify(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The beginning of a record that a power failure tore, where the next record will lie: its first
 * transaction linked a block. */
static void tear_next_record(const char *path, uint64_t at, uint64_t position, uint64_t block) {
  struct {
    struct nvm_activation head;
    struct nvm_reference change;
  } torn = {{.position = position, .transaction = 1 << 16, .count = 1}, {.after = block}};
  int fd = open(path, O_RDWR);
  CHECK(pwrite(fd, &torn, sizeof torn, (off_t)at) == sizeof torn && close(fd) == 0);
}

static void commit_links_to_nothing(void *position) {
  NVM_POOL *pool = test_open(test_path("pool"));
  for (unsigned i = 0; i < LINKS; i++)
    lead(pool, LINKS - 1, NULL);
  CHECK(pool->counts->end == *(const uint64_t *)position);
  raise(SIGKILL);
}

TEST(counted_torn_record_says_nothing) {
  NVM_POOL *pool = make(test_path("pool"), 2);
  CHECK(nvm_pool_count_references(pool) == 0);
  lead(pool, 2, root_of(pool)[0].next);
  nvmi_counts_drain(pool);
  const struct nvmi_counts *counts = pool->counts;
  uint64_t position = counts->end;
  uint64_t at = (uint64_t)(counts->ring - pool->home) + position % NVM_RING_LINES * NVM_RING_LINE;
  uint64_t block = nvmi_offset(pool, root_of(pool)[0].next);
  CHECK(nvm_pool_close(pool) == 0);
  tear_next_record(test_path("pool"), at, position, block);
  CHECK(test_was_killed(test_child(NULL, commit_links_to_nothing, &position)));
  pool = test_open(test_path("pool"));
  verify(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

static void write_word(uint64_t at, uint64_t word) {
  int fd = open(test_path("pool"), O_RDWR);
  CHECK(pwrite(fd, &word, sizeof word, (off_t)at) == sizeof word && close(fd) == 0);
}

/* A word that damage made zero, one that leads to another's table, and two that are exchanged. */
TEST(counted_with_a_damaged_directory) {
  for (int kind = 0; kind < 3; kind++) {
    NVM_POOL *pool = make(test_path("pool"), LINKS);
    CHECK(nvm_tx_begin(pool) == 0); /* blocks in several stretches */
    for (unsigned i = 0; i < LINKS; i++)
      STORE(root_of(pool)[i].next->next,
            nvm_calloc(pool, LINK_ID, BLOCK / sizeof(struct link), sizeof(struct link)));
    CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_count_references(pool) == 0);
    uint64_t at[2], word[2];
    unsigned found = 0;
    for (uint64_t i = 0; i < nvmi_counts_words(pool) && found < 2; i++)
      if ((word[found] = pool->counts->directory[i]))
        at[found++] = (uint64_t)((char *)&pool->counts->directory[i] - pool->home);
    CHECK(found == 2 && nvm_pool_close(pool) == 0);
    write_word(at[0], kind ? word[1] : 0);
    if (kind == 2)
      write_word(at[1], word[0]);
    CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
    CHECK(strstr(nvm_strerror(), "the directory is damaged"));
    struct nvm_repair how = {0};
    CHECK(nvm_pool_repair(test_path("pool"), &how) == 0);
    pool = test_open(test_path("pool"));
    CHECK(!pool->header.counts && nvm_pool_count_references(pool) == 0);
    CHECK(nvm_pool_release(pool, NULL) == 0 && test_blocks(pool) == 1 + 2 * LINKS);
    verify(pool);
    CHECK(nvm_pool_close(pool) == 0 && unlink(test_path("pool")) == 0);
  }
}

/* The process dies between a word and the sum; the next opening goes on. */
TEST(counted_with_a_word_that_the_sum_lacks) {
  NVM_POOL *pool = make(test_path("pool"), LINKS);
  CHECK(nvm_pool_count_references(pool) == 0);
  uint64_t sum = (uint64_t)((char *)&pool->counts->head->sum - pool->home);
  CHECK(pool->counts->head->sum && nvm_pool_close(pool) == 0);
  write_word(sum, 0); /* one word is there */
  pool = test_open(test_path("pool"));
  CHECK(pool->counts->head->sum && !nvmi_counts_stale(pool->counts));
  verify(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

static void collect(void *path) {
  NVM_POOL *pool = test_open(path);
  CHECK(!nvmi_counts_stale(pool->counts) && nvm_pool_collect(pool, NULL) == 0);
}

/* Tables that are made anew are stale until they are whole. */
TEST(counted_stale_while_counted_anew) {
  char *path = (char *)(uintptr_t)test_path("pool");
  NVM_POOL *pool = make(path, LINKS);
  CHECK(nvm_pool_count_references(pool) == 0 && nvm_pool_close(pool) == 0);
  CHECK(test_was_killed(test_child("count:1", collect, path)));
  pool = test_open(path);
  CHECK(nvmi_counts_stale(pool->counts));
  verify(pool);
  CHECK(nvm_pool_release(pool, NULL) == 0 && test_blocks(pool) == 1 + LINKS);
  verify(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

/* A library that comes later may say of words that they lead somewhere. */
TEST(counted_stale_where_types_come_later) {
  NVM_POOL *pool = make(test_path("pool"), LINKS);
  CHECK(nvm_pool_count_references(pool) == 0 && !nvmi_counts_stale(pool->counts));
  __nvm_describe(described_later, described_later + 1);
  CHECK(nvmi_counts_stale(pool->counts));
  CHECK(nvm_pool_release(pool, NULL) == 0 && !nvmi_counts_stale(pool->counts));
  verify(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

/* What a release frees, with what that led to, is not looked at again. */
TEST(counted_released_once) {
  uint64_t freed;
  NVM_POOL *pool = make(test_path("pool"), 2);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root_of(pool)[0].next->next, root_of(pool)[1].next);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_count_references(pool) == 0);
  lead(pool, 1, NULL);
  lead(pool, 0, NULL);
  CHECK(nvm_pool_release(pool, &freed) == 0 && freed == 2);
  nvmi_counts_drain(pool);
  CHECK(!pool->counts->candidates.count && !pool->counts->candidates_lost);
  CHECK(nvm_pool_close(pool) == 0);
}

static bool closes;

static void count_and_lose_power(void *path) {
  struct power_cut cut = {.path = path, .image = test_path("image"), .at = 1};
  power_arm(&cut);
  power_hold(true);
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_pool_count_references(pool) == 0);
  if (closes)
    CHECK(nvm_pool_close(pool) == 0);
  power_hold(false);
  if (closes)
    test_open(path);
  else
    pool->persist->fence();
}

static void lose_power(void) {
  char *path = (char *)(uintptr_t)test_path("pool");
  setenv("NVMOVE_DOMAIN", "power", 1);
  CHECK(nvm_pool_close(make(path, LINKS)) == 0);
  int status = test_child(NULL, count_and_lose_power, path);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == POWER_CUT);
  NVM_POOL *pool = test_open(test_path("image"));
  CHECK(!nvmi_counts_stale(pool->counts) && (!closes || !pool->counts->candidates_lost));
  verify(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

/* What was counted is right whenever the power fails: nobody does it again. */
TEST_ONCE(power_failure_behind_a_count) { lose_power(); }

/* A pool that was closed says, too, that nothing is left to be freed. */
TEST_ONCE(power_failure_behind_a_close_of_counts) {
  closes = true;
  lose_power();
}
