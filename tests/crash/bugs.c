// Known bugs, each found at its line by both methods; and the same program without them.
// RUN: rm -rf %t && mkdir %t
// RUN: %plain -DELSEWHERE -O1 -c %s -I %include -o %t/elsewhere.o

// RUN: %cc -O1 -w %s %t/elsewhere.o -o %t/right
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash -- %t/right %pool | FileCheck --check-prefix=NONE %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash -- %t/right %pool | FileCheck --check-prefix=NONE %s
// RUN: rm -f %pool && %crash --model=process -- %t/right %pool | FileCheck --check-prefix=NONE %s
// NONE: recovery was made to fail {{[1-9]}}
// NONE: no finding
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct account {
  long balance, moves;
  char name[40];
  char mark;
  NVM_VOLATILE long reads;
};
struct bank {
  struct account accounts[2];
  long total;
};

void set_elsewhere(struct account *a, long value);

#ifdef ELSEWHERE
void set_elsewhere(struct account *a, long value) { a->moves = value; }
#else

static NVM_POOL *pool;

// RUN: %cc -O1 -w %s -DBUG_ASM %t/elsewhere.o -o %t/asm && rm -f %pool
// RUN: %exit 1 env NVMOVE_METHOD=undo %crash -- %t/asm %pool > %t/out; FileCheck --check-prefix=ASM %s < %t/out
// ASM: bugs.c:[[@LINE+5]]:{{.*}} error: unseen store: this call changed byte {{.*}} of the pool by code that nothing instruments
static void name(struct account *a, const char *text) {
  a->reads++;
  memcpy(a->name, text, 40);
#ifdef BUG_ASM
  __asm__ volatile("incb %0" : "+m"(a->mark));
#endif
}

// RUN: %cc -O1 -w %s -DBUG_ELSEWHERE %t/elsewhere.o -o %t/elsewhere && rm -f %pool
// RUN: %exit 1 env NVMOVE_METHOD=shadow %crash -- %t/elsewhere %pool > %t/out; FileCheck --check-prefix=ELSE %s < %t/out
// ELSE: bugs.c:[[@LINE+3]]:{{.*}} error: unseen store
static void count(struct account *a) {
#ifdef BUG_ELSEWHERE
  set_elsewhere(a, a->moves + 1);
#else
  a->moves++;
#endif
}

// RUN: %cc -O1 -w %s -DBUG_KERNEL %t/elsewhere.o -o %t/kernel && rm -f %pool
// RUN: cd / && %exit 1 env NVMOVE_METHOD=undo %crash -- %t/kernel %pool > %t/out; FileCheck --check-prefix=KERNEL %s < %t/out
// KERNEL: bugs.c:[[@LINE+3]]:{{.*}} error: unseen store
static void rename_by_kernel(struct account *a) {
#ifdef BUG_KERNEL
  syscall(SYS_getcwd, a->name, sizeof a->name);
#else
  getcwd(a->name, sizeof a->name);
#endif
}

// RUN: %cc -O1 -w %s -DBUG_RMW %t/elsewhere.o -o %t/rmw && rm -f %pool
// RUN: %exit 1 env NVMOVE_METHOD=undo %crash -- %t/rmw %pool > %t/out; FileCheck --check-prefix=RMW %s < %t/out
// RMW: bugs.c:[[@LINE+3]]:{{.*}} error: unlogged store
static void total(struct bank *b, long change) {
#ifdef BUG_RMW
  __atomic_fetch_add(&b->total, change, __ATOMIC_SEQ_CST);
#else
  b->total += change;
#endif
}

// RUN: %cc -O1 -w %s -DBUG_OUTSIDE %t/elsewhere.o -o %t/outside && rm -f %pool
// RUN: %exit 1 %crash -- %t/outside %pool > %t/out; FileCheck --check-prefix=OUTSIDE %s < %t/out
// OUTSIDE: bugs.c:[[@LINE+2]]:{{.*}} error: write outside a transaction: store of 8 bytes
static void move(struct bank *b, long amount) {
  b->accounts[0].balance -= amount;
  b->accounts[1].balance += amount;
}

// RUN: %cc -O1 -w %s -DBUG_REPLY %t/elsewhere.o -o %t/reply && rm -f %pool
// RUN: %exit 1 %crash -- %t/reply %pool > %t/out; FileCheck --check-prefix=REPLY %s < %t/out
// REPLY: bugs.c:[[@LINE+3]]:{{.*}} error: output before commit
// REPLY: bugs.c:[[@LINE-7]]:{{.*}} note: the first of those stores
static void reply(void) {
  write(1, "done\n", 5);
  write(2, "logged\n", 7);
  fflush(stderr);
}

// Two transactions where one is needed: only who knows the program can tell.
// RUN: %plain -DCHECKER -shared -fPIC -I %include %s -o %t/check.so
// RUN: rm -f %pool && %crash --check %t/check.so -- %t/right %pool | FileCheck --check-prefix=NONE %s
// RUN: %cc -O1 -w %s -DBUG_SPLIT %t/elsewhere.o -o %t/split && rm -f %pool
// RUN: %exit 1 %crash --check %t/check.so -- %t/split %pool > %t/out; FileCheck --check-prefix=SPLIT %s < %t/out
// SPLIT: bugs.c:[[@LINE+19]]:{{.*}} error: checker: nvm_crash_check returned 1, in the state that commit {{[24]}} leaves
#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct bank *b = nvm_pool_root(pool);
  return b && b->accounts[0].balance + b->accounts[1].balance != 0;
}
#else
int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  nvm_tx_begin(pool);
  struct bank *b = nvm_calloc(pool, NVM_TYPE_ID(struct bank), 1, sizeof *b);
  nvm_pool_set_root(pool, b);
  nvm_tx_commit(pool);
  for (int i = 0; i < 4; i++) {
#ifndef BUG_OUTSIDE
    nvm_tx_begin(pool);
#endif
#ifdef BUG_SPLIT
    b->accounts[0].balance -= i;
    nvm_tx_commit(pool);
    nvm_tx_begin(pool);
    b->accounts[0].balance += i;
#endif
    move(b, i);
#ifdef BUG_OUTSIDE
    nvm_tx_begin(pool);
#endif
    name(&b->accounts[0], "a name, and enough behind it to fill 40.");
    rename_by_kernel(&b->accounts[1]);
    count(&b->accounts[0]);
    total(b, i);
#ifdef BUG_REPLY
    reply();
#endif
    if (i == 2)
      nvm_tx_abort(pool);
    else
      nvm_tx_commit(pool);
    reply();
  }
  return nvm_pool_close(pool);
}
#endif
#endif
