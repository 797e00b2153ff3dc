/* counted_power.c: reference counts are right, or known not to be, wherever the power fails, also after
 * a kill: what is counted, the circular log's end, counts that are called stale. */
#include "gc/counts.h"
#include "harness.h"
#include "simulation.h"
#include "store.h"
#include "type_tables.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

enum { NODE_ID = 3251, LINKS_ID, NODES = 4, LINKS = 60000, LEFT = 2, FEW = 8 };
enum { USED = 10, USED_SIZE = 480 << 10, FAR_SIZE = 2 << 20, MANY_WORDS = 20000 };

struct node {
  struct node *next, *other;
};

static const struct nvm_field node_fields[] = {TEST_FIELD(node, next, NVM_FIELD_POINTER),
                                               TEST_FIELD(node, other, NVM_FIELD_POINTER)};
static const struct nvm_type node_type = TEST_TYPE(NODE_ID, node, node_fields),
                             links_type = TEST_POINTER(LINKS_ID, node, 0);
TEST_TYPES(described, &node_type, &links_type);

static void begin(NVM_POOL *pool) { CHECK(nvm_tx_begin(pool) == 0); }
static void commit(NVM_POOL *pool) { CHECK(nvm_tx_commit(pool) == 0); }

/* The root's links lead to a few nodes; what leads to none at first is for records of many lines. */
static void add_nodes(NVM_POOL *pool, unsigned links) {
  begin(pool);
  struct node **link = nvm_calloc(pool, LINKS_ID, links, sizeof *link);
  CHECK(link && nvm_pool_set_root(pool, link) == 0);
  for (unsigned i = 0; i < NODES; i++)
    CHECK((link[i] = nvm_calloc(pool, NODE_ID, 1, sizeof *link[i])));
  commit(pool);
}

static NVM_POOL *make(const char *path, unsigned links) {
  NVM_POOL *pool = test_create(path, 6 << 20);
  add_nodes(pool, links);
  CHECK(nvm_pool_count_references(pool) == 0);
  return pool;
}

static void prepare_nodes(void *path) { CHECK(nvm_pool_close(make(path, NODES)) == 0); }

/* All of its free chunks have another use for a while: what is made of them is not zero. */
static void use_all(NVM_POOL *pool) {
  char *blocks[USED];
  begin(pool);
  for (unsigned i = 0; i < USED; i++) {
    CHECK((blocks[i] = nvm_alloc(pool, 0, USED_SIZE)));
    __nvm_note(blocks[i], USED_SIZE);
    memset(blocks[i], 0xff, USED_SIZE);
  }
  commit(pool);
  begin(pool);
  for (unsigned i = 0; i < USED; i++)
    CHECK(nvm_free(blocks[i]) == 0);
  commit(pool);
}

static void prepare_used(void *path) {
  NVM_POOL *pool = test_create(path, 6 << 20);
  use_all(pool);
  add_nodes(pool, NODES);
  CHECK(nvm_pool_close(pool) == 0);
}

static void prepare_used_later(void *path) {
  NVM_POOL *pool = make(path, NODES);
  use_all(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

static struct node **links_of(NVM_POOL *pool) { return nvm_pool_root(pool); }

static void point(NVM_POOL *pool, unsigned first, unsigned count, struct node *to) {
  begin(pool);
  for (unsigned i = first; i < first + count; i++)
    STORE(links_of(pool)[i], to);
  commit(pool);
}

/* Up to a few lines before the circular log's end. */
static void prepare_end(void *path) {
  NVM_POOL *pool = make(path, LINKS);
  struct node *to = links_of(pool)[0];
  for (uint64_t lines; (lines = NVM_RING_LINES - pool->counts->end % NVM_RING_LINES) > LEFT;) {
    uint64_t changes = (lines - LEFT) * (NVM_RING_LINE / sizeof(struct nvm_reference)) - 2;
    changes = changes < LINKS - NODES ? changes : LINKS - NODES;
    point(pool, NODES, (unsigned)changes, links_of(pool)[NODES] ? NULL : to);
  }
  CHECK(pool->counts->end % NVM_RING_LINES == NVM_RING_LINES - LEFT);
  CHECK(nvm_pool_close(pool) == 0);
}

static NVM_POOL *open_without_power(void *cut) {
  power_arm(cut);
  power_hold(true);
  return test_open(((const struct power_cut *)cut)->path);
}

/* Links come and go, and are counted in between. */
static void link_without_power(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  power_hold(false);
  for (unsigned i = 0; i < 2; i++) {
    begin(pool);
    STORE(links_of(pool)[i]->next, links_of(pool)[2]);
    STORE(links_of(pool)[i]->other, i ? links_of(pool)[0] : NULL);
    commit(pool);
    nvmi_counts_drain(pool);
  }
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

static void unlink_without_power(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  power_hold(false);
  point(pool, 2, 1, NULL);
  CHECK(nvm_pool_release(pool, NULL) == 0);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

static NVM_POOL *shared;
static sem_t has_log, counted;

static void link_and_count(unsigned from, unsigned to) {
  begin(shared);
  STORE(links_of(shared)[from]->next, links_of(shared)[to]);
  commit(shared);
  nvmi_counts_drain(shared);
}

static void *count_twice(void *unused) {
  begin(shared);
  STORE(links_of(shared)[3]->other, NULL);
  commit(shared);
  sem_post(&has_log);
  while (sem_wait(&counted))
    ;
  power_hold(false);
  link_and_count(0, 1);
  link_and_count(1, 2);
  power_hold(true);
  return unused;
}

/* The first batch is one thread's. Another's takes its place, and the fence of that one says nothing
 * of what the first has flushed. */
static void count_in_two_threads(void *cut) {
  pthread_t other;
  shared = open_without_power(cut);
  CHECK(sem_init(&has_log, 0, 0) == 0 && sem_init(&counted, 0, 0) == 0);
  CHECK(pthread_create(&other, NULL, count_twice, NULL) == 0);
  while (sem_wait(&has_log))
    ;
  link_and_count(2, 3);
  sem_post(&counted);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(nvm_pool_close(shared) == 0);
}

/* All is counted anew while what was committed last waits to be counted. */
static void collect_without_power(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  power_hold(false);
  begin(pool);
  STORE(links_of(pool)[0]->next, links_of(pool)[2]);
  commit(pool);
  CHECK(nvm_pool_collect(pool, NULL) == 0);
  point(pool, 1, 1, NULL);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The same where the last batch has another value of what changes uncounted. */
static void recount_without_power(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  begin(pool);
  STORE(links_of(pool)[0]->next, links_of(pool)[2]);
  commit(pool);
  nvmi_counts_drain(pool);
  nvmi_counts_spoil(pool);
  begin(pool);
  STORE(links_of(pool)[0]->next, NULL);
  commit(pool);
  power_hold(false);
  CHECK(nvm_pool_collect(pool, NULL) == 0);
  point(pool, 1, 1, NULL);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

static char *fill_pool(NVM_POOL *pool) {
  char *block = NULL, *last;
  begin(pool);
  for (size_t size = FAR_SIZE; size >= NVM_CHUNK_SIZE; size /= 2)
    while ((last = nvm_alloc(pool, 0, size)))
      block = block ? block : last;
  commit(pool);
  return block;
}

/* A commit fails whose changes of references are in the circular log. */
static void fail_without_power(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  const struct nvm_header *header = &pool->header;
  rlim_t end = header->heap_offset + header->heap_size;
  struct rlimit size = {.rlim_cur = end, .rlim_max = end};
  CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &size) == 0);
  uint64_t *words = (uint64_t *)fill_pool(pool);
  begin(pool);
  power_hold(false);
  STORE(links_of(pool)[0]->next, links_of(pool)[2]);
  for (unsigned i = 0; i < MANY_WORDS; i++)
    STORE(words[i], i);
  CHECK(nvm_tx_commit(pool) == -1);
  point(pool, 1, 1, NULL);
  power_hold(true);
}

/* A table more, made of a chunk that had another use. */
static void link_far_away(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  begin(pool);
  struct node *far = nvm_calloc(pool, NODE_ID, FAR_SIZE / sizeof(struct node), sizeof *far);
  STORE(links_of(pool)[0]->next, far);
  commit(pool);
  nvmi_counts_drain(pool);
  power_hold(false);
  begin(pool);
  STORE(links_of(pool)[1]->next, &far[FAR_SIZE / sizeof *far - 1]);
  commit(pool);
  nvmi_counts_drain(pool);
  point(pool, 1, 1, NULL);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

static void prepare_far(void *path) {
  NVM_POOL *pool = make(path, NODES);
  begin(pool);
  struct node *far = nvm_calloc(pool, NODE_ID, FAR_SIZE / sizeof(struct node), sizeof *far);
  STORE(links_of(pool)[0]->next, far);
  commit(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The first link there: the table's word in the directory is stored, and not yet flushed. */
static void link_there(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  power_hold(false);
  begin(pool);
  STORE(links_of(pool)[1]->next, &links_of(pool)[0]->next[FAR_SIZE / sizeof(struct node) - 1]);
  commit(pool);
  nvmi_counts_drain(pool);
  point(pool, 2, 1, NULL);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The same, killed there; then the power fails while the pool is opened again. */
static void open_what_was_killed(void *argument) {
  const struct power_cut *cut = argument;
  if (cut->kills) {
    link_there(argument);
    return;
  }
  power_arm(cut);
  CHECK(nvm_pool_close(test_open(cut->path)) == 0);
}

/* A record that begins before the log's end and goes on at its start. */
static void link_over_the_end(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  power_hold(false);
  point(pool, NODES, FEW, links_of(pool)[1]);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Not counted from here on. */
static void spoil_without_power(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  power_hold(false);
  nvmi_counts_spoil(pool);
  begin(pool);
  STORE(links_of(pool)[0]->other, links_of(pool)[0]->other ? NULL : links_of(pool)[3]);
  commit(pool);
  CHECK(nvm_pool_close(pool) == 0);
}

/* From the first count on, with a table more for what lies far away. */
static void count_without_power_from_the_start(void *cut) {
  NVM_POOL *pool = open_without_power(cut);
  begin(pool);
  struct node *far = nvm_calloc(pool, NODE_ID, FAR_SIZE / sizeof(struct node), sizeof *far);
  STORE(links_of(pool)[0]->next, far);
  commit(pool);
  power_hold(false);
  CHECK(nvm_pool_count_references(pool) == 0);
  begin(pool);
  STORE(links_of(pool)[1]->next, &far[FAR_SIZE / sizeof *far - 1]);
  STORE(links_of(pool)[2]->next, links_of(pool)[3]);
  commit(pool);
  nvmi_counts_drain(pool);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The words of a pool that is recovered make the tables, or are what they say. */
static void verify_or_count(const char *image) {
  NVM_POOL *pool = test_open(image);
  CHECK(nvm_pool_count_references(pool) == 0);
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"counted") == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Nothing that is linked goes, and what is not does. */
static void verify(const char *image) {
  NVM_POOL *pool = test_open(image);
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"verify") == 0);
  CHECK(nvm_pool_release(pool, NULL) == 0);
  CHECK(nvm_pool_verify(pool, test_print_fault, (void *)(uintptr_t)"released") == 0);
  CHECK(nvm_pool_verify_pointers(pool, test_print_fault, (void *)(uintptr_t)"pointers") == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(power_failure_counting_undo) {
  power_fail_everywhere("undo", prepare_nodes, link_without_power, verify);
}

TEST_ONCE(power_failure_counting_shadow) {
  power_fail_everywhere("shadow", prepare_nodes, link_without_power, verify);
}

TEST_ONCE(power_failure_when_counting_begins) {
  power_fail_everywhere("undo", prepare_used, count_without_power_from_the_start, verify_or_count);
}

TEST_ONCE(power_failure_counting_in_two_threads) {
  power_fail_everywhere("undo", prepare_nodes, count_in_two_threads, verify);
}

TEST_ONCE(power_failure_releasing) {
  power_fail_everywhere("undo", prepare_nodes, unlink_without_power, verify);
}

TEST_ONCE(power_failure_collecting) {
  power_fail_everywhere("undo", prepare_nodes, collect_without_power, verify);
}

TEST_ONCE(power_failure_counting_far_away) {
  power_fail_everywhere("undo", prepare_used_later, link_far_away, verify);
}

TEST_ONCE(power_failure_counting_what_fails) {
  power_fail_everywhere("shadow", prepare_nodes, fail_without_power, verify);
}

TEST_ONCE(power_failure_counting_anew) {
  power_fail_everywhere("undo", prepare_nodes, recount_without_power, verify);
}

TEST_ONCE(power_failure_counting_over_the_end) {
  power_fail_everywhere("undo", prepare_end, link_over_the_end, verify);
}

TEST_ONCE(power_failure_counting_after_a_kill) {
  power_fail_after_kills("undo", prepare_nodes, spoil_without_power, verify);
}

TEST_ONCE(power_failure_counting_far_away_after_a_kill) {
  power_fail_after_kills("undo", prepare_far, link_there, verify);
}

TEST_ONCE(power_failure_opening_after_a_kill_far_away) {
  power_fail_after_kills("undo", prepare_far, open_what_was_killed, verify);
}
