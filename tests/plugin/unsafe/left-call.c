// A call that the library does not return from, as its callback jumps out of it: what it could write is noted no
// more, whatever is called afterwards. One that another stack goes on beside, a coroutine's, is not over.
// RUN: rm -f %t.pool && %cc -O0 -pthread %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && rm %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: rm -f %t.pool && %cc -O2 -pthread %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && rm %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
#include "nvmove/nvmove.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { NUMBERS = 64, STACK = 256 << 10 };

struct numbers {
  long sorted[NUMBERS], other;
};

static NVM_POOL *pool;
static struct numbers *n;
static jmp_buf out;
static ucontext_t main_stack, beside;
static int calls;

static int order(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return x < y ? -1 : x > y;
}

static int leave(const void *a, const void *b) {
  if (++calls == 20)
    longjmp(out, 1);
  return order(a, b);
}

static int switch_stacks(const void *a, const void *b) {
  if (++calls % 40 == 0)
    swapcontext(&beside, &main_stack);
  return order(a, b);
}

static void mix(void) {
  nvm_tx_begin(pool);
  for (long i = 0; i < NUMBERS; i++)
    n->sorted[i] = NUMBERS - i;
  nvm_tx_commit(pool);
}

__attribute__((noinline)) static void sort_and_leave(void) {
  qsort(n->sorted, NUMBERS, sizeof(long), leave);
}

/* Far below the frame that was left: another thread's bytes, as it were, changed behind the
 * runtime's back. */
__attribute__((noinline)) static long below(int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  if (depth)
    return below(depth - 1) + room[0];
  nvm_tx_begin(pool);
  n->other = 1;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  n->other = 2;
  long *unseen = (long *)((volatile char *)n->sorted);
  __asm__ volatile("movq $777, (%0)" : : "r"(unseen) : "memory");
  nvm_tx_abort(pool);
  return 0;
}

static void sort_beside(void) { qsort(n->sorted, NUMBERS, sizeof(long), switch_stacks); }

static int check_left(void) {
  mix();
  if (!setjmp(out)) {
    nvm_tx_begin(pool);
    sort_and_leave();
  } else {
    nvm_tx_abort(pool);
  }
  below(4);
  return n->sorted[0] == 777 && n->other == 1; /* nobody noted it, so no abort took it back */
}

static int check_beside(void) {
  static char stack[STACK];
  mix();
  calls = 0;
  getcontext(&beside);
  beside.uc_stack.ss_sp = stack;
  beside.uc_stack.ss_size = sizeof stack;
  beside.uc_link = &main_stack;
  makecontext(&beside, sort_beside, 0);
  nvm_tx_begin(pool);
  for (int i = 0; i < 1000 && calls >= 0; i++) {
    int before = calls;
    swapcontext(&main_stack, &beside);
    nvm_tx_commit(pool);
    nvm_tx_begin(pool);
    if (calls / 40 == before / 40)
      break;
  }
  nvm_tx_commit(pool);
  for (long i = 0; i < NUMBERS; i++)
    if (n->sorted[i] != i + 1)
      return 0;
  return 1;
}

int main(int argc, char **argv) {
  (void)argc;
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  n = nvm_calloc(pool, NVM_TYPE_ID(struct numbers), 1, sizeof *n);
  nvm_pool_set_root(pool, n);
  nvm_tx_commit(pool);
  if (!check_left())
    return 1;
  calls = 0;
  if (!check_beside() || nvm_pool_close(pool))
    return 2;
  pool = nvm_pool_open(argv[1]);
  n = nvm_pool_root(pool);
  for (long i = 0; i < NUMBERS; i++)
    if (n->sorted[i] != i + 1)
      return 3;
  return nvm_pool_close(pool) ? 4 : 0;
}
