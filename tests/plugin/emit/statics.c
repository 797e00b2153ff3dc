// Pointers from a pool to functions and static data hold after a restart, a rebuild, and a crash while
// they are bound anew.
// RUN: rm -f %t.pool && %cc %s -O0 -fPIE -pie -o %t.1 && %t.1 create %t.pool
// RUN: %t.1 check %t.pool && %t.1 check %t.pool
// RUN: %cc %s -O3 -fPIE -pie -DPADDING -o %t.2 && %t.2 check %t.pool && %t.1 check %t.pool
// RUN: %cc %s -O2 -fno-pie -no-pie -DPADDING -o %t.3 && %t.3 check %t.pool && %t.3 check %t.pool && %t.2 check %t.pool
// RUN: env NVMOVE_BASE=0x7ea000000000 %t.2 check %t.pool && env NVMOVE_BASE=0x7e8000000000 %t.3 check %t.pool
// From a program that is not position-independent, in which functions of libraries have stubs.
// RUN: rm -f %t.fixed && %t.3 create %t.fixed && %t.3 check %t.fixed && %t.1 check %t.fixed && %t.2 check %t.fixed
// AddressSanitizer surrounds constants with memory that nobody may read.
// RUN: %cc %s -O1 -fsanitize=address -DPADDING -o %t.asan && %t.asan check %t.pool && %t.1 check %t.pool
// A crash at each step, and another program goes on.
// RUN: %python %s.py %t.pool %t.1 %t.2 %t.3
// What is gone and nobody needs is no matter.
// RUN: cp %t.pool %t.pruned && %t.1 prune %t.pruned && %cc %s -O1 -DWITHOUT_TWICE -o %t.4 && %t.4 pruned %t.pruned && %t.1 pruned %t.pruned
// What is gone is named; the pool stays as it is.
// RUN: %exit 1 %t.4 check %t.pool 2>&1 | FileCheck --check-prefix=GONE %s
// GONE: field call of struct thing points to twice of statics.c, which the program lacks
// RUN: %cc %s -O1 -DWITHOUT_TEXT -o %t.5 && %exit 1 %t.5 check %t.pool 2>&1 | FileCheck --check-prefix=TEXT %s
// TEXT: field name of struct thing points to the text "constant text", which the program lacks
// RUN: %t.2 check %t.pool
// Stripped, the same build is known by its addresses alone; another is not.
// RUN: rm -f %t.pool && strip -o %t.6 %t.1 && %t.6 create %t.pool && %t.6 check %t.pool && %t.1 check %t.pool
// RUN: %exit 1 %t.2 check %t.pool 2>&1 | FileCheck --check-prefix=STRIPPED %s
// STRIPPED: points to nameless data of another build of the program
// What no restart finds again is an unsafe pointer.
// RUN: rm -f %t.pool && %exit 3 %t.1 unsafe %t.pool 2>&1 | FileCheck --check-prefix=UNSAFE %s
// UNSAFE: unsafe pointer: field name of the struct thing
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PADDING
int padding(int n) { return n < 2 ? 1 : padding(n - 1) * padding(n - 2); }
const char *volatile other_text = "other text";
#endif

struct ops {
  int (*apply)(int);
  const char *title;
};

static int once(int n) { return n; }
#ifndef WITHOUT_TWICE
static int twice(int n) { return 2 * n; }
#endif
int thrice(int n) { return 3 * n; }
static const struct ops table[] = {{once, "once"}, {thrice, "thrice"}};
static int counter = 5;

typedef NVM_STRUCT thing {
  struct thing *next;
  int (*call)(int);
  const struct ops *ops;       // to constants
  NVM_STATIC_PTR(int) counter; // to state, which the program says is static
  const char *name;
  int (*library)(const char *);
  union {
    NVM_WHEN(kind, 1) int (*either)(int);
    long number;
  };
  int kind;
} thing;

#ifdef WITHOUT_TEXT
#define TEXT "another text"
#else
#define TEXT "a constant text"
#endif
#ifdef WITHOUT_TWICE
#define FIRST once
#else
#define FIRST twice
#endif

enum { COUNT = 300 };

static int create(const char *path) {
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  for (int i = 0; i < COUNT; i++) {
    nvm_tx_begin(pool);
    thing *made = nvm_calloc(pool, NVM_TYPE_ID(thing), 1, sizeof *made);
    made->next = nvm_pool_root(pool);
    made->call = i % 3 ? FIRST : thrice;
    made->ops = &table[i % 2];
    made->counter = &counter;
    made->name = i % 5 ? TEXT : TEXT + 2;
    made->library = i % 2 ? atoi : NULL;
    made->kind = i % 2;
    if (i % 2)
      made->either = once;
    else
      made->number = (long)(size_t)once;
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  }
  return nvm_pool_close(pool) != 0;
}

static int check(const char *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), nvm_errno() == NVM_ESTATIC ? 1 : 2;
  int i = COUNT;
  for (const thing *at = nvm_pool_root(pool); at; at = at->next) {
    i--;
    if (at->call(7) != (i % 3 ? 14 : 21) || at->ops->apply(2) != (i % 2 ? 6 : 2) ||
        strcmp(at->ops->title, i % 2 ? "thrice" : "once") != 0 || at->counter != &counter ||
        strcmp(at->name, i % 5 ? TEXT : TEXT + 2) != 0 ||
        (i % 2 ? at->library("17") != 17 || at->either(4) != 4 : at->library != NULL))
      return fprintf(stderr, "thing %d is wrong\n", i), 4;
  }
  return i != 0 || nvm_pool_close(pool) != 0;
}

static int prune(const char *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  for (thing *at = nvm_pool_root(pool); at; at = at->next)
    at->call = thrice;
  return nvm_pool_close(pool) != 0;
}

static int pruned(const char *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  int i = COUNT;
  for (const thing *at = nvm_pool_root(pool); at; at = at->next)
    if (i--, at->call(7) != 21 || (i % 2 ? at->library("17") != 17 : at->library != NULL))
      return fprintf(stderr, "thing %d is wrong\n", i), 4;
  return i != 0 || nvm_pool_close(pool) != 0;
}

static int unsafe(const char *path) {
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  nvm_tx_begin(pool);
  thing *made = nvm_calloc(pool, NVM_TYPE_ID(thing), 1, sizeof *made);
  made->name = (const char *)&counter; // state that a restart loses
  return nvm_tx_commit(pool) ? fprintf(stderr, "%s\n", nvm_strerror()), 3 : 0;
}

int main(int argc, char **argv) {
  (void)argc;
  return strcmp(argv[1], "create") == 0 ? create(argv[2])
         : strcmp(argv[1], "check") == 0 ? check(argv[2])
         : strcmp(argv[1], "prune") == 0 ? prune(argv[2])
         : strcmp(argv[1], "pruned") == 0 ? pruned(argv[2])
                                          : unsafe(argv[2]);
}
