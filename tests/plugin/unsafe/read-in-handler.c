// A signal's handler reads to a block of a pool, with a described function, while its thread builds the heap's tables,
// allocates or frees: nobody waits for a lock that this thread has. However often it reads to the same bytes in one
// call, the log gets them once: there it cannot become longer.
// RUN: %cc -O1 %s -o %t && rm -f %t.pool && timeout -s KILL 100 %t %t.pool
#include "nvmove/nvmove.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { BLOCKS = 3000, ROUNDS = 400, TRIES = 4, READS = 100 };
static char *volatile block;
static int zeros;

/* The next signal comes a while after the handler, however long that took: the thread goes on in between. */
static void read_more(int number) {
  struct itimerval next = {.it_value = {0, 200}};
  char *to = block;
  for (int i = 0; to && i < READS; i++)
    if (read(zeros, to, 128) != 128)
      _exit(number);
  setitimer(ITIMER_REAL, &next, NULL);
}

int main(int argc, char **argv) {
  struct sigaction action = {.sa_handler = read_more};
  struct itimerval first = {.it_value = {0, 200}};
  zeros = open("/dev/zero", O_RDONLY);
  NVM_POOL *pool = nvm_pool_create(argv[argc - 1], 16 << 20);
  nvm_tx_begin(pool);
  void **blocks = nvm_alloc(pool, 0, BLOCKS * sizeof *blocks);
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = nvm_alloc(pool, 0, 200);
  nvm_pool_set_root(pool, blocks);
  nvm_tx_commit(pool);
  nvm_pool_close(pool);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &first, NULL);
  for (int i = 0; i < ROUNDS; i++) {
    if (!(pool = nvm_pool_open(argv[1])))
      return 1;
    blocks = nvm_pool_root(pool);
    nvm_tx_begin(pool);
    for (int k = 0; k < TRIES; k++) {
      block = blocks[1];
      void *made = nvm_alloc(pool, 0, 200 + 100 * k);
      block = NULL;
      blocks[2 + k] = made;
    }
    nvm_tx_abort(pool);
    if (nvm_pool_close(pool))
      return 2;
  }
  return 0;
}
