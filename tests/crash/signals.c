// A signal handler that stores may interrupt the program, the library and the trace anywhere.
// RUN: %cc -O1 %s -o %t
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash --states-max 2000 --samples 16 --epoch-states 64 -- %t %pool > %t.undo || true
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash --states-max 2000 --samples 16 --epoch-states 64 -- %t %pool > %t.shadow || true
// RUN: FileCheck %s < %t.undo && FileCheck %s < %t.shadow
// CHECK-NOT: error:
// CHECK: no finding
#include "nvmove/nvmove.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

enum { TRANSACTIONS = 12, TURNS = 300, MICROSECONDS = 100 };

static NVM_POOL *pool;
static struct root {
  long hits, counts[100], text[20], handler[64];
} *root;

static void handle(int number) {
  root->hits++;
  root->handler[root->hits % 64] = root->hits;
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarms, NULL);
  signal(SIGALRM, handle);
  setitimer(ITIMER_REAL, &(struct itimerval){{0, MICROSECONDS}, {0, MICROSECONDS}}, NULL);
  for (int i = 0; i < TRANSACTIONS; i++) {
    nvm_tx_begin(pool);
    root->hits++;
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    for (int j = 0; j < TURNS; j++) {
      root->counts[j % 100] += i;
      memset(root->text, j, 40);
    }
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
