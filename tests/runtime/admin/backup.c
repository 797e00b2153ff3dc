/* backup.c: copies of pools that threads and other processes write to: each is what a crash at one
 * moment would have left; who makes one may die. */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include "core/pool.h"
#include "nvmove/backup.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 2, WORDS = 700, BACKUPS = 12, COUNT = 50 };

/* Each writer has an array whose words are all its round, far apart, and a list of its last rounds.
 */
struct shelf {
  uint64_t round[WORDS];
  struct node *list;
};
struct node {
  struct node *next;
  uint64_t round;
};
struct root {
  struct shelf *shelf[WRITERS];
};

struct common {
  _Atomic uint64_t rounds; /* committed */
  _Atomic bool stop;
};

struct writer {
  NVM_POOL *pool;
  struct common *common;
  unsigned number;
};

static void write_round(const struct writer *w, struct shelf *shelf) {
  CHECK(nvm_tx_begin(w->pool) == 0);
  uint64_t round = shelf->round[0] + 1;
  for (unsigned i = 0; i < WORDS; i += 7)
    STORE(shelf->round[i], round);
  struct node *made = nvm_alloc(w->pool, 0, sizeof *made);
  CHECK(made);
  STORE(made->next, shelf->list);
  STORE(made->round, round);
  STORE(shelf->list, made);
  struct node *last = made;
  for (unsigned i = 0; i < 3 && last; i++)
    last = last->next;
  if (last && last->next) {
    CHECK(nvm_free(last->next) == 0);
    STORE(last->next, NULL);
  }
  CHECK(nvm_tx_commit(w->pool) == 0);
  w->common->rounds++;
}

static void *write_on(void *argument) {
  const struct writer *w = argument;
  struct root *root = nvm_pool_root(w->pool);
  while (!w->common->stop)
    write_round(w, root->shelf[w->number]);
  return NULL;
}

static void prepare(const char *path) {
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct root *root = nvm_calloc(pool, 0, 1, sizeof *root);
  for (unsigned i = 0; i < WRITERS; i++)
    STORE(root->shelf[i], nvm_calloc(pool, 0, 1, sizeof(struct shelf)));
  CHECK(nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Whole rounds; gives how many. */
static uint64_t verify(const char *path) {
  CHECK(nvm_pool_check(path, test_print_fault, (void *)(uintptr_t)path) == 0);
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  uint64_t rounds = 0;
  for (unsigned i = 0; i < WRITERS; i++) {
    const struct shelf *shelf = root->shelf[i];
    uint64_t round = shelf->round[0], listed = round;
    for (unsigned at = 0; at < WORDS; at += 7)
      CHECK(shelf->round[at] == round);
    for (const struct node *node = shelf->list; node; node = node->next)
      CHECK(node->round == listed--);
    rounds += round;
  }
  CHECK(nvm_pool_close(pool) == 0);
  return rounds;
}

static void start(struct writer *writers, pthread_t *threads, NVM_POOL *pool,
                  struct common *common) {
  for (unsigned i = 0; i < WRITERS; i++) {
    writers[i] = (struct writer){pool, common, i};
    CHECK(pthread_create(&threads[i], NULL, write_on, &writers[i]) == 0);
  }
}

static struct common *make_common(void) {
  void *shared =
      mmap(NULL, sizeof(struct common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  return shared;
}

/* A process that writes until it is told to stop. */
static pid_t start_process(const char *path, struct common *common) {
  pid_t child = fork();
  if (child == 0) {
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    NVM_POOL *pool = test_open(path);
    start(writers, threads, pool, common);
    for (unsigned i = 0; i < WRITERS; i++)
      pthread_join(threads[i], NULL);
    CHECK(nvm_pool_close(pool) == 0);
    _exit(0);
  }
  while (!common->rounds)
    usleep(1000);
  return child;
}

static void end_process(pid_t child, struct common *common) {
  int status;
  common->stop = true;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(backup_of_another_process) {
  struct common *common = make_common();
  char path[200], copy[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  snprintf(copy, sizeof copy, "%s", test_path("copy"));
  prepare(path);
  pid_t child = start_process(path, common);
  for (unsigned i = 0; i < BACKUPS; i++) {
    struct nvm_backup told = {0};
    uint64_t before = common->rounds;
    CHECK(nvm_pool_backup_file(path, copy, &told) == 0);
    CHECK(told.was_open && told.bytes >= 1 << 20 && told.pause > 0);
    CHECK(verify(copy) >= before);
    CHECK_FAILS(nvm_pool_backup_file(path, copy, &told) == 0, NVM_EEXISTS);
    unlink(copy);
  }
  end_process(child, common);
  CHECK(verify(path) == common->rounds);
}

TEST(backup_of_an_open_pool) {
  struct common *common = make_common();
  struct writer writers[WRITERS];
  pthread_t threads[WRITERS];
  char path[200], copy[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  prepare(path);
  NVM_POOL *pool = test_open(path);
  start(writers, threads, pool, common);
  uint64_t before[BACKUPS];
  for (unsigned i = 0; i < BACKUPS; i++) {
    snprintf(copy, sizeof copy, "%s.%u", path, i);
    before[i] = common->rounds;
    CHECK(nvm_pool_backup(pool, copy, NULL) == 0);
  }
  common->stop = true;
  for (unsigned i = 0; i < WRITERS; i++)
    pthread_join(threads[i], NULL);
  CHECK(nvm_pool_close(pool) == 0);
  for (unsigned i = 0; i < BACKUPS; i++) {
    snprintf(copy, sizeof copy, "%s.%u", path, i);
    CHECK(verify(copy) >= before[i]);
  }
}

/* While the pool is quiesced, a thread that is in the middle of a transaction cannot end it. */
static NVM_POOL *quiesced;
static _Atomic int stage; /* 1: the writer has noted, 2: it may commit, 3: it has */

static void *commit_late(void *argument) {
  struct shelf *shelf = argument;
  CHECK(nvm_tx_begin(quiesced) == 0 && nvm_alloc(quiesced, 0, 100) && nvm_tx_commit(quiesced) == 0);
  CHECK(nvm_tx_begin(quiesced) == 0);
  STORE(shelf->round[0], 5);
  stage = 1;
  while (stage != 2)
    usleep(100);
  CHECK(nvm_tx_commit(quiesced) == 0);
  stage = 3;
  return NULL;
}

static void let_commit(enum nvmi_step step) {
  if (step != NVMI_STEP_CREATE || !quiesced->gate)
    return;
  stage = 2;
  usleep(30000);
  CHECK(stage == 2);
}

TEST(backup_holds_commits_up) {
  char path[200], copy[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  snprintf(copy, sizeof copy, "%s", test_path("copy"));
  prepare(path);
  quiesced = test_open(path);
  pthread_t thread;
  struct shelf *shelf = ((struct root *)nvm_pool_root(quiesced))->shelf[0];
  CHECK(pthread_create(&thread, NULL, commit_late, shelf) == 0);
  while (stage != 1)
    usleep(100);
  setenv("NVMOVE_KILL_AT", "create:1000000", 1); /* so that what is done asks the hook */
  hook_steps(let_commit);
  CHECK(nvm_pool_backup(quiesced, copy, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && stage == 3);
  CHECK(nvm_pool_close(quiesced) == 0);
  NVM_POOL *pool = test_open(copy);
  CHECK(((struct root *)nvm_pool_root(pool))->shelf[0]->round[0] == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* One that has a transaction open, and does nothing: it does not answer, and need not. */
TEST(backup_of_an_idle_process) {
  struct common *common = make_common();
  char path[200], copy[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  snprintf(copy, sizeof copy, "%s", test_path("copy"));
  prepare(path);
  pid_t child = fork();
  if (child == 0) {
    NVM_POOL *pool = test_open(path);
    struct root *root = nvm_pool_root(pool);
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(root->shelf[0]->round[0], 77);
    common->rounds = 1;
    while (!common->stop)
      usleep(1000);
    CHECK(nvm_tx_commit(pool) == 0);
    _exit(0);
  }
  while (!common->rounds)
    usleep(1000);
  CHECK(nvm_pool_backup_file(path, copy, NULL) == 0);
  end_process(child, common);
  CHECK(verify(copy) == 0);
  unlink(copy);
  struct nvm_backup told = {0};
  CHECK(nvm_pool_backup_file(path, copy, &told) == 0 && !told.was_open);
}

struct attempt {
  const char *path, *copy;
};

static void back_up(void *argument) {
  const struct attempt *attempt = argument;
  _exit(nvm_pool_backup_file(attempt->path, attempt->copy, NULL) == 0 ? 0 : 1);
}

/* Also in the pause: the program goes on, and there is no half file. */
TEST_ONCE(backup_that_is_killed) {
  struct common *common = make_common();
  char path[200], copy[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  snprintf(copy, sizeof copy, "%s", test_path("copy"));
  prepare(path);
  pid_t child = start_process(path, common);
  struct attempt attempt = {path, copy};
  bool killed = true;
  for (unsigned step = 1; killed; step++) {
    char kill[32];
    snprintf(kill, sizeof kill, "create:%u", step);
    killed = test_was_killed(test_child(kill, back_up, &attempt));
    CHECK(killed == (access(copy, F_OK) != 0));
    uint64_t before = common->rounds;
    for (unsigned waited = 0; common->rounds < before + COUNT; waited++) {
      CHECK(waited < 5000);
      usleep(1000);
    }
  }
  end_process(child, common);
  CHECK(verify(copy) > 0);
}

static _Thread_local bool stops;

static void stop_in_commit(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT || !stops)
    return;
  stops = false;
  stage = 1;
  while (stage != 2)
    usleep(100);
}

static void *stop_at_work(void *shelf) {
  stops = true;
  CHECK(nvm_tx_begin(quiesced) == 0);
  STORE(((struct shelf *)shelf)->round[0], 5);
  CHECK(nvm_tx_commit(quiesced) == 0);
  return NULL;
}

/* A thread that stands still in a commit is waited for, not passed by. Later it works. */
TEST_ONCE(backup_gives_up_on_threads_at_work) {
  char copy[200];
  snprintf(copy, sizeof copy, "%s", test_path("copy"));
  prepare(test_path("pool"));
  quiesced = test_open(test_path("pool"));
  pthread_t thread;
  setenv("NVMOVE_KILL_AT", "create:1000000", 1); /* so that what is done asks the hook */
  hook_steps(stop_in_commit);
  CHECK(pthread_create(&thread, NULL, stop_at_work,
                       ((struct root *)nvm_pool_root(quiesced))->shelf[0]) == 0);
  while (stage != 1)
    usleep(100);
  CHECK_FAILS(nvm_pool_backup(quiesced, copy, NULL) == 0, NVM_EBUSY);
  CHECK(access(copy, F_OK) != 0 && !quiesced->gate);
  stage = 2;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(nvm_pool_backup(quiesced, copy, NULL) == 0 && nvm_pool_close(quiesced) == 0);
  test_check_pool(copy);
}
