// A queue whose ends are variables of the program, written back when it exits.
// RUN: %seeded %s
#include "seeded.h"

enum { ROOM = 16 };

struct queue {
  long head, tail;
  long item[ROOM]; // 0: free
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct queue *q = nvm_pool_root(pool);
  long items = 0;
  for (int i = 0; q && i < ROOM; i++)
    items += q->item[i] != 0;
  return q && items != q->tail - q->head;
}
#else
static struct queue *queue;
#ifdef BUG
static long head, tail;

static void save(void) {
  nvm_tx_begin(pool);
  queue->head = head;
  queue->tail = tail;
  nvm_tx_commit(pool);
  nvm_pool_close(pool);
}
#define HEAD head
#define TAIL tail
#else
static void save(void) { nvm_pool_close(pool); }
#define HEAD queue->head
#define TAIL queue->tail
#endif

static void put(long value) {
  nvm_tx_begin(pool);
  queue->item[TAIL++ % ROOM] = value;
  nvm_tx_commit(pool); // FOUND: checker
}

static void take(void) {
  nvm_tx_begin(pool);
  queue->item[HEAD++ % ROOM] = 0;
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  queue = CREATE(argv, struct queue);
  atexit(save);
  for (long i = 1; i <= 5; i++)
    put(i);
  take();
  return 0;
}
#endif
