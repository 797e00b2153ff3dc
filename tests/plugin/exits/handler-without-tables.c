// A signal's handler posts a semaphore between a note and its store, in code without unwind tables: the store is in
// the pool after the commit all the same.
// RUN: rm -f %t.pool && %cc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables %s -o %t && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: rm -f %t.pool && env NVMOVE_METHOD=undo %t %t.pool
// RUN: rm -f %t.pool && %cc -O2 %s -o %t && env NVMOVE_METHOD=shadow %t %t.pool
// A handler that blocks no signal is found by the tables, or by the stack that it has for itself.
// RUN: rm -f %t.pool && %cc -O2 -DFLAGS=SA_NODEFER %s -o %t && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: rm -f %t.pool && %cc -O2 "-DFLAGS=SA_NODEFER|SA_ONSTACK" -fno-asynchronous-unwind-tables -fno-unwind-tables %s -o %t
// RUN: env NVMOVE_METHOD=shadow %t %t.pool
#include "nvmove/nvmove.h"

#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#ifndef FLAGS
#define FLAGS 0
#endif
enum { NUMBERS = 8000000, AT_ONCE = 100, STEP = 200 };

static sem_t semaphore;
static long *volatile numbers; /* so each store has a note of its own */

static volatile int posted;

static void post(int number) {
  (void)number;
  sem_post(&semaphore);
  posted = 1; /* so it has a frame */
}

static void store_all(NVM_POOL *pool) {
  for (long first = 0; first < STEP; first++)
    for (long i = 0; i < NUMBERS / STEP; i += AT_ONCE) {
      nvm_tx_begin(pool);
      for (long k = i; k < i + AT_ONCE; k++)
        numbers[first + k * STEP] = first + k * STEP + 1;
      nvm_tx_commit(pool);
      while (!sem_trywait(&semaphore))
        ;
    }
}

int main(int argc, char **argv) {
  static char handlers_stack[64 << 10];
  struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  struct sigaction action = {.sa_handler = post, .sa_flags = SA_RESTART | FLAGS};
  stack_t stack = {.ss_sp = handlers_stack, .ss_size = sizeof handlers_stack};
  (void)argc;
  sigaltstack(&stack, NULL);
  NVM_POOL *pool = nvm_pool_create(argv[1], 128 << 20);
  nvm_tx_begin(pool);
  numbers = nvm_calloc(pool, 0, NUMBERS, sizeof *numbers);
  nvm_pool_set_root(pool, numbers);
  nvm_tx_commit(pool);
  sem_init(&semaphore, 0, 0);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  store_all(pool);
  setitimer(ITIMER_REAL, &never, NULL);
  if (nvm_pool_close(pool) || !(pool = nvm_pool_open(argv[1])))
    return 2;
  numbers = nvm_pool_root(pool);
  for (long i = 0; i < NUMBERS; i++)
    if (numbers[i] != i + 1)
      return 1;
  return nvm_pool_close(pool) ? 2 : 0;
}
