/* order.c: locks released inside open transactions order the commits.
 *
 * A, the first thread, writes under a lock and releases it before its transaction has ended; B
 * takes the lock, copies what A wrote and commits. Whatever happens, B's copy is never newer than
 * A's original in a pool that was opened after a crash, and A's two halves are equal.
 */
#include "harness.h"
#include "heap/heap_types.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

enum { ROUNDS = 4 };

struct root {
  uint64_t first, gap[20];
  uint64_t copy, gap2[20]; /* B's, of `first` */
  uint64_t last;           /* A's, at the end of its transaction */
  struct root *block;      /* allocated by A, freed by B */
};

enum handshake {
  NONE,      /* A goes on by itself: B's commit waits */
  BOTH_WAIT, /* A takes over a lock of B's in turn: two commits that wait for each other */
  BACK       /* as BOTH_WAIT, with the same bytes: A writes them once more behind B */
};

struct pair {
  const char *path;
  enum handshake handshake;
  bool aborts; /* A does, in odd rounds */
  NVM_POOL *pool;
  struct root *root;
  pthread_mutex_t lock, second;
  _Atomic unsigned written, copied, committed, undone; /* rounds: A's first half, B's copy, ... */
  volatile uint64_t *acknowledged;                     /* of A */
};

static void wait_for(_Atomic unsigned *counter, unsigned value) {
  while (*counter < value)
    sched_yield();
}

static void *run_b(void *argument) {
  struct pair *p = argument;
  for (unsigned round = 1; round <= ROUNDS; round++) {
    wait_for(&p->written, round);
    bool aborted = p->aborts && round % 2;
    pthread_mutex_lock(&p->lock);
    CHECK(nvm_tx_begin(p->pool) == 0);
    STORE(p->root->copy, p->root->first);
    if (p->handshake == BACK)
      STORE(p->root->first, UINT64_MAX); /* the same bytes, by B */
    if (p->root->block && !aborted)
      CHECK(nvm_free(p->root->block) == 0);
    STORE(p->root->block, NULL);
    pthread_mutex_unlock(&p->lock);
    p->copied = round;
    if (p->aborts)
      usleep(2000); /* A's abort waits for this one's */
    if (p->handshake != NONE) {
      pthread_mutex_lock(&p->second);
      pthread_mutex_unlock(&p->second);
      p->committed = round; /* A may take over now */
    }
    if (aborted) {
      CHECK_FAILS(nvm_tx_commit(p->pool) == 0, NVM_EBROKEN);
      wait_for(&p->undone, round);
      CHECK(!p->root->block && p->root->first == p->root->last);
      p->committed = round;
      continue;
    }
    CHECK(nvm_tx_commit(p->pool) == 0);
    p->committed = round;
  }
  return NULL;
}

static void run_a(struct pair *p) {
  for (unsigned round = 1; round <= ROUNDS; round++) {
    uint64_t value = *p->acknowledged + 1;
    CHECK(nvm_tx_begin(p->pool) == 0);
    pthread_mutex_lock(&p->lock);
    STORE(p->root->first, value);
    STORE(p->root->block, nvm_alloc(p->pool, 0, 48));
    pthread_mutex_unlock(&p->lock);
    p->written = round;
    if (p->handshake == NONE) {
      wait_for(&p->copied, round);
      for (int i = 0; i < 20 && !p->aborts; i++)
        sched_yield();
    } else {
      wait_for(&p->committed, round);
    }
    if (p->handshake == BOTH_WAIT || p->handshake == BACK) {
      pthread_mutex_lock(p->handshake == BACK ? &p->lock : &p->second);
      STORE(p->root->first, value);
      pthread_mutex_unlock(p->handshake == BACK ? &p->lock : &p->second);
    }
    STORE(p->root->last, value);
    if (p->aborts && round % 2) {
      CHECK(nvm_tx_abort(p->pool) == 0);
      p->undone = round;
    } else {
      CHECK(nvm_tx_commit(p->pool) == 0);
      p->acknowledged[0] = value;
    }
    wait_for(&p->committed, round);
  }
}

static void run_pair(void *argument) {
  struct pair *p = argument;
  p->pool = access(p->path, F_OK) == 0 ? test_open(p->path) : test_create(p->path, 2 << 20);
  if (!nvm_pool_root(p->pool)) {
    CHECK(nvm_tx_begin(p->pool) == 0);
    void *root = nvm_calloc(p->pool, 0, 1, sizeof(struct root));
    CHECK(root && nvm_pool_set_root(p->pool, root) == 0 && nvm_tx_commit(p->pool) == 0);
  }
  p->root = nvm_pool_root(p->pool);
  pthread_mutex_init(&p->lock, NULL);
  pthread_mutex_init(&p->second, NULL);
  pthread_t b;
  CHECK(pthread_create(&b, NULL, run_b, p) == 0);
  run_a(p);
  CHECK(pthread_join(b, NULL) == 0);
  struct nvm_stats stats;
  CHECK(nvm_pool_stats(p->pool, &stats) == 0);
  CHECK(p->handshake == NONE || p->aborts || stats.joined_commits >= ROUNDS);
  CHECK(nvm_pool_close(p->pool) == 0);
}

static void verify_pair(const struct pair *p) {
  NVM_POOL *pool = test_open(p->path);
  const struct root *root = nvm_pool_root(pool);
  uint64_t known = *p->acknowledged;
  if (root) {
    CHECK(root->first == root->last && root->copy <= root->first);
    CHECK(root->first == known || root->first == known + 1);
    CHECK(p->handshake == NONE || root->copy == root->first); /* they joined */
  }
  CHECK(test_blocks(pool) == (root ? 1 + (root->block != NULL) : 0));
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(p->path);
}

static struct pair new_pair(enum handshake handshake) {
  struct pair p = {.path = test_path("pool"), .handshake = handshake};
  p.acknowledged = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(p.acknowledged != MAP_FAILED);
  return p;
}

static void kill_everywhere(enum handshake handshake, const char *kind, unsigned stride) {
  for (unsigned n = 1;; n += stride) {
    struct pair p = new_pair(handshake);
    char kill[64];
    snprintf(kill, sizeof kill, "%s:%u", kind, n);
    int status = test_child(kill, run_pair, &p);
    CHECK(test_was_killed(status) || status == 0);
    verify_pair(&p);
    if (!test_was_killed(status)) {
      CHECK(*p.acknowledged == ROUNDS && n > ROUNDS);
      return;
    }
    unlink(p.path);
  }
}

TEST(order_the_later_commit_waits) {
  kill_everywhere(NONE, "append", 1);
  unlink(test_path("pool"));
  kill_everywhere(NONE, "commit", 1);
}

TEST(order_two_commits_that_wait_for_each_other) {
  kill_everywhere(BOTH_WAIT, "append", 3);
  unlink(test_path("pool"));
  kill_everywhere(BOTH_WAIT, "commit", 3);
}

TEST(order_bytes_go_back_and_forth) {
  kill_everywhere(BACK, "append", 3);
  unlink(test_path("pool"));
  kill_everywhere(BACK, "commit", 3);
}

/* B is undone with A. */
TEST(order_abort_takes_dependents_along) {
  struct pair p = new_pair(NONE);
  p.aborts = true;
  CHECK(test_child(NULL, run_pair, &p) == 0);
  NVM_POOL *pool = test_open(p.path);
  const struct root *root = nvm_pool_root(pool);
  CHECK(root->first == ROUNDS / 2 && root->copy == root->first && !root->block);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(p.path);
}

struct leak {
  NVM_POOL *pool;
  uint64_t *words;
  pthread_mutex_t lock;
  _Atomic unsigned step;
};

static void *overwrite_and_stay(void *argument) {
  struct leak *leak = argument;
  wait_for(&leak->step, 1);
  CHECK(nvm_tx_begin(leak->pool) == 0);
  pthread_mutex_lock(&leak->lock);
  STORE(leak->words[0], 2);
  STORE(leak->words[100], 2);
  leak->step = 2;
  wait_for(&leak->step, 9);
  return NULL;
}

static void commit_beside(void *path) {
  struct leak leak = {.pool = test_create(path, 2 << 20)};
  pthread_mutex_init(&leak.lock, NULL);
  CHECK(nvm_tx_begin(leak.pool) == 0);
  leak.words = nvm_calloc(leak.pool, 0, 200, 8);
  CHECK(nvm_pool_set_root(leak.pool, leak.words) == 0 && nvm_tx_commit(leak.pool) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, overwrite_and_stay, &leak) == 0);
  CHECK(nvm_tx_begin(leak.pool) == 0);
  pthread_mutex_lock(&leak.lock);
  STORE(leak.words[0], 1);
  pthread_mutex_unlock(&leak.lock);
  leak.step = 1;
  wait_for(&leak.step, 2);
  STORE(leak.words[50], 1);
  CHECK(nvm_tx_commit(leak.pool) == 0);
  _exit(0);
}

/* A commits the bytes that it wrote, not those that B has put over them and not committed. */
TEST(order_commits_no_others_bytes) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, commit_beside, (void *)(uintptr_t)path) == 0);
  NVM_POOL *pool = test_open(path);
  const uint64_t *words = nvm_pool_root(pool);
  CHECK(words[0] == 1 && words[50] == 1 && words[100] == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static union {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  pthread_spinlock_t spin;
  sem_t semaphore;
  mtx_t mtx;
} lock;

static int take_mutex(void) { return pthread_mutex_lock(&lock.mutex); }
static int try_mutex(void) { return pthread_mutex_trylock(&lock.mutex); }
static int release_mutex(void) { return pthread_mutex_unlock(&lock.mutex); }
static int read_rwlock(void) { return pthread_rwlock_rdlock(&lock.rwlock); }
static int write_rwlock(void) { return pthread_rwlock_wrlock(&lock.rwlock); }
static int release_rwlock(void) { return pthread_rwlock_unlock(&lock.rwlock); }
static int take_spin(void) { return pthread_spin_lock(&lock.spin); }
static int release_spin(void) { return pthread_spin_unlock(&lock.spin); }
static int take_semaphore(void) { return sem_wait(&lock.semaphore); }
static int release_semaphore(void) { return sem_post(&lock.semaphore); }
static int take_mtx(void) { return mtx_lock(&lock.mtx); }
static int release_mtx(void) { return mtx_unlock(&lock.mtx); }
static int wait_mutex(void) {
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  struct timespec past = {0};
  take_mutex();
  pthread_cond_timedwait(&condition, &lock.mutex, &past); /* releases, and has it again */
  return 0;
}

static const struct kind {
  int (*take)(void), (*release)(void);
  int (*release_first)(void); /* when it is not by `release`: left taken */
} kinds[] = {{take_mutex, release_mutex, NULL},         {try_mutex, release_mutex, NULL},
             {take_mutex, release_mutex, wait_mutex},   {read_rwlock, release_rwlock, NULL},
             {write_rwlock, release_rwlock, NULL},      {take_spin, release_spin, NULL},
             {take_semaphore, release_semaphore, NULL}, {take_mtx, release_mtx, NULL}};

static void init_lock(const struct kind *kind) {
  memset(&lock, 0, sizeof lock);
  if (kind->release == release_rwlock)
    pthread_rwlock_init(&lock.rwlock, NULL);
  else if (kind->release == release_spin)
    pthread_spin_init(&lock.spin, 0);
  else if (kind->release == release_semaphore)
    sem_init(&lock.semaphore, 0, 1);
  else if (kind->release == release_mtx)
    mtx_init(&lock.mtx, mtx_plain);
  else
    pthread_mutex_init(&lock.mutex, NULL);
}

static void *take_over(void *argument) {
  const struct kind *kind = argument;
  CHECK(kind->take() == 0);
  /* Readers hand nothing on to each other. */
  CHECK((nvmi_self && nvmi_self->node) == (kind->take != read_rwlock));
  CHECK(kind->release() == 0);
  return NULL;
}

/* Each kind of lock is seen; none is while no transaction is open. */
TEST_ONCE(order_sees_every_lock) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_alloc(pool, 0, 64);
  CHECK(words && nvm_tx_commit(pool) == 0);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    init_lock(&kinds[i]);
    CHECK(kinds[i].take() == 0 && kinds[i].release() == 0 && !nvmi_self->node);
    CHECK(nvm_tx_begin(pool) == 0);
    CHECK(kinds[i].take() == 0 && kinds[i].release() == 0 && !nvmi_self->node);
    STORE(words[0], i);
    if (kinds[i].release_first) {
      CHECK(kinds[i].release_first() == 0 && nvmi_self->node);
      CHECK(kinds[i].release() == 0);
    } else {
      CHECK(kinds[i].take() == 0 && kinds[i].release() == 0 && nvmi_self->node);
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, take_over, (void *)(uintptr_t)&kinds[i]) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(nvm_tx_commit(pool) == 0 && !nvmi_self->node);
  }
  CHECK(nvm_pool_close(pool) == 0);
}
