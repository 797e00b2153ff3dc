/* threads.c: several threads, each with its log, and the process dies at any append.
 *
 * Under one lock they move money between accounts and push and pop blocks of one list, so each
 * thread builds on what another just committed and frees what another allocated. Without a lock
 * each owns every fourth byte of an array: neighbours in the same lines.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "heap/heap_spans.h"
#include "heap/heap_types.h"
#include "simulation.h"
#include "sparse.h"
#include "store.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ACCOUNTS = 64, MONEY = 1000, BYTES = 1024, ALONE = 20 };

struct node {
  struct node *next;
  uint64_t value;
};

struct root {
  int64_t accounts[ACCOUNTS];
  struct node *head;
  uint64_t count;
  uint64_t done[THREADS];
  unsigned char bytes[BYTES];
};

struct shared {
  volatile uint64_t acknowledged[THREADS];
};

struct bank {
  const char *path;
  struct shared *shared;
  uint64_t transactions;       /* for each thread */
  const struct power_cut *cut; /* null: no power failure */
  NVM_POOL *pool;
  struct root *root;
  pthread_mutex_t lock;
};

struct clerk {
  struct bank *bank;
  unsigned number;
  uint64_t end;
};

static void move(struct bank *bank, uint64_t random) {
  struct root *root = bank->root;
  unsigned from = random % ACCOUNTS, to = random / ACCOUNTS % ACCOUNTS;
  int64_t amount = (int64_t)(random >> 32 & 0xff);
  STORE(root->accounts[from], root->accounts[from] - amount);
  STORE(root->accounts[to], root->accounts[to] + amount);
  if (random >> 40 & 3 && root->head) {
    struct node *node = root->head;
    STORE(root->head, node->next);
    STORE(root->count, root->count - 1);
    CHECK(nvm_free(node) == 0);
  } else {
    struct node *node = nvm_alloc(bank->pool, NVM_TYPE_ID(struct node), 16 + (random >> 50));
    CHECK(node != NULL);
    STORE(node->next, root->head);
    STORE(node->value, ~(uint64_t)(uintptr_t)node);
    STORE(root->head, node);
    STORE(root->count, root->count + 1);
  }
}

static void *work(void *argument) {
  struct clerk *clerk = argument;
  struct bank *bank = clerk->bank;
  unsigned me = clerk->number;
  uint64_t state = 0x1234567 + me + 1000 * test_seed();
  for (uint64_t t = bank->root->done[me]; t < clerk->end; t++) {
    for (int i = 0; i < 3; i++)
      state = state * 6364136223846793005u + 1442695040888963407u;
    CHECK(nvm_tx_begin(bank->pool) == 0);
    for (unsigned i = me; i < BYTES; i += 16 * THREADS)
      STORE(bank->root->bytes[i], (unsigned char)(t + 1));
    CHECK(nvm_tx_commit(bank->pool) == 0);
    pthread_mutex_lock(&bank->lock);
    CHECK(nvm_tx_begin(bank->pool) == 0);
    move(bank, state >> 7);
    STORE(bank->root->done[me], t + 1);
    CHECK((t % 5 == 4 ? nvm_tx_abort(bank->pool) : nvm_tx_commit(bank->pool)) == 0);
    if (t % 5 == 4) {
      CHECK(nvm_tx_begin(bank->pool) == 0);
      STORE(bank->root->done[me], t + 1);
      CHECK(nvm_tx_commit(bank->pool) == 0);
    }
    pthread_mutex_unlock(&bank->lock);
    bank->shared->acknowledged[me] = t + 1;
  }
  return NULL;
}

/* One thread alone first: the second log comes while the first is in use. */
static void run_bank(void *argument) {
  struct bank *bank = argument;
  if (bank->cut)
    power_arm(bank->cut);
  bank->pool =
      access(bank->path, F_OK) == 0 ? test_open(bank->path) : test_create(bank->path, 4 << 20);
  if (bank->cut) /* from the start: the simulation knows nothing of membarrier(2) */
    bank->pool->several_logs = true;
  pthread_mutex_init(&bank->lock, NULL);
  if (!nvm_pool_root(bank->pool)) {
    nvm_tx_begin(bank->pool);
    struct root *root = nvm_calloc(bank->pool, 0, 1, sizeof *root);
    for (int i = 0; i < ACCOUNTS; i++)
      STORE(root->accounts[i], MONEY);
    CHECK(nvm_pool_set_root(bank->pool, root) == 0 && nvm_tx_commit(bank->pool) == 0);
  }
  bank->root = nvm_pool_root(bank->pool);
  struct clerk clerks[THREADS];
  pthread_t threads[THREADS];
  for (unsigned i = 0; i < THREADS; i++)
    clerks[i] = (struct clerk){bank, i, bank->transactions};
  struct clerk first = {bank, 0, bank->transactions < ALONE ? bank->transactions : ALONE};
  work(&first);
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, work, &clerks[i]) == 0);
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK(nvm_pool_close(bank->pool) == 0);
}

static void verify_bank(const struct bank *bank) {
  NVM_POOL *pool = test_open(bank->path);
  const struct root *root = nvm_pool_root(pool);
  if (root) {
    int64_t sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
      sum += root->accounts[i];
    CHECK(sum == ACCOUNTS * MONEY);
    uint64_t count = 0;
    for (const struct node *node = root->head; node; node = node->next, count++)
      CHECK(node->value == ~(uint64_t)(uintptr_t)node);
    CHECK(count == root->count);
    CHECK(test_blocks(pool) == count + 1);
    for (unsigned me = 0; me < THREADS; me++) {
      uint64_t acknowledged = bank->shared->acknowledged[me];
      CHECK(root->done[me] == acknowledged || root->done[me] == acknowledged + 1);
      for (unsigned i = me; i < BYTES; i += 16 * THREADS) {
        CHECK(root->bytes[i] == root->bytes[me]); /* all or nothing */
        unsigned char done = (unsigned char)root->done[me];
        CHECK(root->bytes[i] == done || root->bytes[i] == (unsigned char)(done + 1));
      }
    }
  }
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(bank->path);
}

static struct bank new_bank(uint64_t transactions) {
  struct bank bank = {.path = test_path("pool"), .transactions = transactions};
  bank.shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(bank.shared != MAP_FAILED);
  return bank;
}

TEST(threads_run_through) {
  struct bank bank = new_bank(300);
  CHECK(test_child(NULL, run_bank, &bank) == 0);
  verify_bank(&bank);
}

TEST(threads_crash) {
  unsigned kills = 0;
  for (unsigned n = 20; n < 2500; n += 61) {
    struct bank bank = new_bank(60);
    char kill[64];
    snprintf(kill, sizeof kill, n % 2 ? "append:%u" : "commit:%u", n);
    kills += test_was_killed(test_child(kill, run_bank, &bank));
    verify_bank(&bank);
    if (kills % 4 == 0) {
      bank.transactions = 70;
      CHECK(test_child(NULL, run_bank, &bank) == 0);
      verify_bank(&bank);
    }
    unlink(bank.path);
  }
  CHECK(kills >= 8);
}

/* Fences are each thread's own here: what one has streamed the fence of another does not wait for.
 */
static void power_fails_in_bank(const char *method) {
  setenv("NVMOVE_METHOD", method, 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  struct bank bank = new_bank(10);
  CHECK(test_child(NULL, run_bank, &bank) == 0);
  const char *start = test_path("start"), *path = bank.path;
  sparse_copy(path, start);
  struct power_cut cut = {
      .path = path, .image = test_path("image"), .at = 1, .seed = 1 + test_seed()};
  unsigned states = 0;
  for (;; cut.at += 1 + cut.at / 40, cut.seed++, states++) {
    sparse_copy(start, path);
    bank = (struct bank){path, bank.shared, 30, &cut, NULL, NULL, bank.lock};
    for (unsigned i = 0; i < THREADS; i++)
      bank.shared->acknowledged[i] = 10;
    int status = test_child(NULL, run_bank, &bank);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
    if (WEXITSTATUS(status) == 0)
      break;
    bank.path = cut.image;
    verify_bank(&bank);
  }
  CHECK(states > 60);
}

TEST_ONCE(power_failure_threads_undo) { power_fails_in_bank("undo"); }

TEST_ONCE(power_failure_threads_shadow) { power_fails_in_bank("shadow"); }

static void *write_once(void *words) {
  STORE(((uint64_t *)words)[1], 7); /* outside a transaction: committed when the thread ends */
  return NULL;
}

TEST(thread_end_commits) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  nvm_tx_begin(pool);
  uint64_t *words = nvm_calloc(pool, 0, 8, 8);
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  for (int i = 0; i < 50; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_once, words) == 0 && pthread_join(thread, NULL) == 0);
  }
  struct nvm_stats stats;
  CHECK(nvm_pool_stats(pool, &stats) == 0 && stats.implicit_commits == 50);
  CHECK(pool->log_count == 2); /* logs are handed on */
  CHECK(nvm_pool_close(pool) == 0);
}

/* A thread saw a span without owner; before it had the lock another log took the span. */
TEST_ONCE(owned_span_is_not_offered) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  struct nvmi_span *taken = nvmi_span_acquire(pool, 3);
  CHECK(taken != NULL && taken->owned);
  nvmi_span_offer(pool, taken);
  CHECK(taken->owned && nvmi_span_acquire(pool, 3) != taken);
  nvmi_span_give_up(pool, taken);
  CHECK(nvmi_span_acquire(pool, 3) == taken);
  CHECK(nvm_pool_close(pool) == 0);
}
