// A commit that looks at many words is interrupted by a timer whose handler stores, sooner than such a look
// takes. What the handler stores meanwhile does not prolong the commit: it ends.
//
// RUN: %cc -O2 -pthread %s -o %t && rm -f %t.pool
// RUN: env NVMOVE_METHOD=shadow %t %t.pool && rm %t.pool && env NVMOVE_METHOD=undo %t %t.pool
#include <nvmove/nvmove.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { ITEMS = 30000, TICK_US = 3000, TRANSACTIONS = 3 };

struct item {
  struct item *next;
  long kind;
  NVM_WHEN(kind, 1) struct item *maybe;
  long values[5];
};

struct root {
  struct item *items;
  long ticks;
};

static struct root *root;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void tick(int number) {
  (void)number;
  root->ticks++;
}

static void store_to_all(long turn) {
  for (long i = 0; i < ITEMS; i++) {
    struct item *item = &root->items[i];
    item->next = &root->items[(i + turn) % ITEMS];
    item->values[turn % 5]++;
    item->kind = 0;
  }
}

static int failed(const char *what) { return printf("%s: %s\n", what, nvm_strerror()) > 0; }

int main(int argc, char **argv) {
  const struct itimerval timer = {{0, TICK_US}, {0, TICK_US}};
  NVM_POOL *pool = argc == 2 ? nvm_pool_create(argv[1], 64 << 20) : NULL;
  if (!pool || nvm_tx_begin(pool))
    return failed("create");
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  root->items = nvm_calloc(pool, NVM_TYPE_ID(struct item), ITEMS, sizeof *root->items);
  nvm_pool_set_root(pool, root);
  if (nvm_tx_commit(pool))
    return failed("commit");
  signal(SIGALRM, tick);
  for (long turn = 0; turn < TRANSACTIONS; turn++) {
    nvm_tx_begin(pool);
    pthread_mutex_lock(&mutex);
    store_to_all(turn);
    pthread_mutex_unlock(&mutex); // what was stored is captured
    pthread_mutex_lock(&mutex);
    root->items[0].values[4]++;
    pthread_mutex_unlock(&mutex);
    if (turn == 0)
      setitimer(ITIMER_REAL, &timer, NULL); // its first signal comes in a commit
    if (nvm_tx_commit(pool))
      return failed("commit");
  }
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  return nvm_pool_close(pool) ? failed("close") : 0;
}
