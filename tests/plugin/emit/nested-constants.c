// Constants without a name are known by all that they hold, as deep as it goes, and by what they lead to. Where that has
// nothing but a number of the compiler, only the build that filled the pool knows them.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %cc -O1 %s -DWHICH=chain -o chain1 && %cc -O1 -DSWAPPED %s -DWHICH=chain -o chain2
// RUN: ./chain1 chain.pool && ./chain2 chain.pool && ./chain1 chain.pool
// RUN: %cc -O1 %s -DWHICH=long_chain -o long1 && %cc -O1 -DSWAPPED %s -DWHICH=long_chain -o long2
// RUN: ./long1 long.pool && ./long2 long.pool && ./long1 long.pool
// RUN: %cc -O1 %s -DWHICH=number -o number1 && %cc -O1 -DSWAPPED %s -DWHICH=number -o number2
// RUN: ./number1 number.pool && ./number1 number.pool && %exit 1 ./number2 number.pool 2>&1 | FileCheck %s
// CHECK: points to nameless data of another build of the program
// Functions of one name in two files.
// RUN: cp %s a.c && cp %s b.c && %cc -O1 -DPART=first a.c -c -o a.o && %cc -O1 -DPART=second b.c -c -o b.o
// RUN: %cc -O1 %s -DWHICH=parts -c -o main.o && %cc main.o a.o b.o -o parts1 && %cc main.o b.o a.o -o parts2
// RUN: ./parts1 parts.pool && ./parts2 parts.pool && ./parts1 parts.pool
#include "nvmove/nvmove.h"

#include <stdio.h>

#define JOINED(a, b) a##b
#define TABLE(name) JOINED(name, _table)

struct leaf {
  int value;
  const struct leaf *next;
  int *state;
  int (*call)(void);
};

#ifdef PART
static int here(void) {
  volatile const char *name = __FILE__;
  return name[0];
}
static const struct leaf *const table = (const struct leaf[]){{1, 0, 0, here}};
const struct leaf *TABLE(PART)(void) { return table; }
#else
#define LEAF(v, ...)                                                                               \
  (const struct leaf[]) {{v, __VA_ARGS__, 0, 0}}
#define FOUR(...) LEAF(1, LEAF(2, LEAF(3, LEAF(4, __VA_ARGS__))))
#define MANY(...) FOUR(FOUR(FOUR(FOUR(__VA_ARGS__))))
#define CHAIN(n) FOUR(LEAF(5, LEAF(n, 0)))
#define LONG(n) MANY(LEAF(n, 0))
#define NUMBER(n) &(const struct leaf){1, 0, (int[]){n}, 0}

extern const struct leaf *first_table(void), *second_table(void);

#ifdef SWAPPED
const struct leaf *volatile b_chain = CHAIN(7), *volatile a_chain = CHAIN(6);
const struct leaf *volatile b_long = LONG(7), *volatile a_long = LONG(6);
const struct leaf *volatile b_number = NUMBER(7), *volatile a_number = NUMBER(6);
#else
const struct leaf *volatile a_chain = CHAIN(6), *volatile b_chain = CHAIN(7);
const struct leaf *volatile a_long = LONG(6), *volatile b_long = LONG(7);
const struct leaf *volatile a_number = NUMBER(6), *volatile b_number = NUMBER(7);
#endif

enum which { chain, long_chain, number, parts };

struct holder {
  const struct leaf *a, *b;
};

static struct holder wanted(void) {
  switch (WHICH) {
  case chain:
    return (struct holder){a_chain, b_chain};
  case long_chain:
    return (struct holder){a_long, b_long};
  case number:
    return (struct holder){a_number, b_number};
  default:
    return (struct holder){first_table(), second_table()};
  }
}

__attribute__((weak)) const struct leaf *first_table(void) { return 0; }
__attribute__((weak)) const struct leaf *second_table(void) { return 0; }

int main(int count, char **values) {
  struct holder all = wanted();
  NVM_POOL *pool = nvm_pool_open(values[count - 1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    struct holder *made = nvm_calloc(pool, NVM_TYPE_ID(struct holder), 1, sizeof *made);
    made->a = all.a;
    made->b = all.b;
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct holder *holder = nvm_pool_root(pool);
  if (holder->a != all.a || holder->b != all.b)
    return fprintf(stderr, "leads elsewhere\n"), 4;
  return nvm_pool_close(pool);
}
#endif
