// A timer's handler stores to the pool while the process exits. The process ends as it would without. The library
// looks through the frames from its own, below the call before a store, to the handler's.
// RUN: %cc -O0 %s -o %t.0 && env NVMOVE_METHOD=undo %t.0 %t.pool && env NVMOVE_METHOD=shadow %t.0 %t.pool
// RUN: %cc -O2 %s -o %t.2 && env NVMOVE_METHOD=undo %t.2 %t.pool && env NVMOVE_METHOD=shadow %t.2 %t.pool
#include "nvmove/nvmove.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 60 };
static long *number;

static void count(int signal_number) {
  (void)signal_number;
  ++*number;
}

static void run(const char *path) {
  struct itimerval often = {{0, 20}, {0, 20}};
  unlink(path);
  NVM_POOL *pool = nvm_pool_create(path, 2 << 20);
  number = nvm_calloc(pool, 0, 1, 64);
  nvm_pool_set_root(pool, number);
  *number = 1;
  signal(SIGALRM, count);
  setitimer(ITIMER_REAL, &often, NULL);
  usleep(300);
  exit(0);
}

int main(int argc, char **argv) {
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    pid_t child = fork();
    if (!child)
      run(argv[argc - 1]);
    if (child < 0 || waitpid(child, &status, 0) != child || status) {
      fprintf(stderr, "process %d ended with status %#x\n", i, status);
      return 1;
    }
  }
  return 0;
}
