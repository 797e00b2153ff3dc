// `nvmove pool backup`: a copy that opens, of a pool that nobody has open, and of one that a program is writing to.
// RUN: %cc %s -o %t && rm -f %pool %pool.copy*
// RUN: %t %pool create && %nvmove pool backup %pool %pool.copy | FileCheck --check-prefix=QUIET %s
// QUIET: .pool.copy: {{[0-9]+}} bytes; nobody had it open
// RUN: %t %pool.copy look
// RUN: %exit 2 %nvmove pool backup %pool %pool.copy 2>&1 | FileCheck --check-prefix=THERE %s
// THERE: error: {{.*}}.copy: the file exists; a copy goes into a new one
// RUN: %exit 2 %nvmove pool backup %s %pool.copy2 2>&1 | FileCheck --check-prefix=FOREIGN %s
// FOREIGN: error: {{.*}}backup.c: this is no pool of nvmove
// RUN: %exit 2 %nvmove pool backup %pool /nonexistent/copy 2>&1 | FileCheck --check-prefix=FOLDER %s
// FOLDER: error: /nonexistent/copy: cannot be created: No such file
// RUN: rm -f %pool.copy && %t %pool write %nvmove pool backup %pool %pool.copy --format=json | FileCheck --check-prefix=LIVE %s
// LIVE: "bytes":
// LIVE: "was_open": true
// RUN: %t %pool.copy look && %nvmove pool check %pool.copy && %t %pool look
// RUN: rm -f %pool.copy && %t %pool idle %nvmove pool backup %pool %pool.copy | FileCheck --check-prefix=IDLE %s
// IDLE: the program wrote nothing meanwhile and was not stopped
// RUN: %t %pool.copy look
#include "nvmove/nvmove.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 4000 };

typedef NVM_STRUCT root { long number[COUNT]; }
root;

static NVM_POOL *pool;

static void change(root *r) {
  nvm_tx_begin(pool);
  for (int i = 0; i < COUNT; i++)
    r->number[i]++;
  nvm_tx_commit(pool);
}

static int look(const root *r) {
  for (int i = 1; i < COUNT; i++)
    if (r->number[i] != r->number[0])
      return fprintf(stderr, "%d: %ld, not %ld\n", i, r->number[i], r->number[0]), 1;
  return 0;
}

/* Runs the rest of the arguments while this process writes, or does nothing; gives its status. */
static int beside(root *r, bool writes, char **command) {
  change(r);
  pid_t child = fork();
  if (child == 0) {
    execvp(*command, command);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, writes ? WNOHANG : 0) == 0)
    change(r);
  return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  if (strcmp(argv[2], "create") == 0) {
    pool = nvm_pool_create(argv[1], 2 << 20);
    nvm_tx_begin(pool);
    nvm_pool_set_root(pool, nvm_calloc(pool, NVM_TYPE_ID(root), 1, sizeof(root)));
    nvm_tx_commit(pool);
    return nvm_pool_close(pool);
  }
  pool = nvm_pool_open(argv[1]);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  root *r = nvm_pool_root(pool);
  int result = strcmp(argv[2], "look") == 0 ? look(r) : beside(r, argv[2][0] == 'w', argv + 3);
  return nvm_pool_close(pool) || result;
}
