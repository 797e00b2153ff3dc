// What C++ compilers count is known in one build alone: lambdas, types without a name, namesakes in one function and what
// belongs to local classes, temporaries of references. Another build refuses the pool, or finds what is alone.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %cxx -O1 %s -o first && %cxx -O1 -DMORE %s -o second
// RUN: ./first lambda.pool lambda && ./first lambda.pool lambda && %exit 1 ./second lambda.pool lambda 2>&1 | FileCheck --check-prefix=LAMBDA %s
// LAMBDA: field call of holder points to one of several _Z{{.*}} in the program, which nothing tells apart
// RUN: ./first inner.pool inner && ./first inner.pool inner && %exit 1 ./second inner.pool inner 2>&1 | FileCheck --check-prefix=LAMBDA %s
// RUN: ./first member.pool member && ./first member.pool member && %exit 1 ./second member.pool member 2>&1 | FileCheck --check-prefix=LAMBDA %s
// RUN: ./first state.pool state && ./first state.pool state && %exit 1 ./second state.pool state 2>&1 | FileCheck --check-prefix=STATE %s
// STATE: field state of holder points to one of several _ZZ{{.*}} in the program, which nothing tells apart
// RUN: ./first table.pool table && ./first table.pool table && %exit 1 ./second table.pool table 2>&1 | FileCheck --check-prefix=TABLE %s
// TABLE: points to one of several _ZTV{{.*}} in the program, which nothing tells apart
// RUN: ./first temporary.pool temporary && ./first temporary.pool temporary && %exit 1 ./second temporary.pool temporary 2>&1 | FileCheck --check-prefix=STATE2 %s
// STATE2: field state of holder points to one of several _ZGR{{.*}} in the program, which nothing tells apart
// What is alone, and what has a name.
// RUN: ./first alone.pool alone && ./second alone.pool alone && ./first alone.pool alone
// RUN: ./first named.pool named && ./second named.pool named && ./first named.pool named
#include "nvmove/nvmove.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

typedef int (*function)(int);
struct base {
  virtual int value() { return 0; }
  long more;
};
struct holder {
  function call;
  NVM_STATIC_PTR(const int) state;
  base *object;
};
struct pair {
  const int &a, &b;
};

#ifdef MORE
function added = [](int a) { return a * 1000; };
#endif
function lambda = [](int a) { return a + 1; };

static int *counted(int which) {
#ifdef MORE
  if (which == 5) {
    static int number = 5;
    return &number;
  }
#endif
  if (which == 6) {
    static int number = 6;
    return &number;
  }
  if (which == 8) {
    static int alone = 8;
    return &alone;
  }
  static int number = 7;
  return &number;
}

#define LOCAL(n)                                                                                   \
  {                                                                                                \
    struct local : base {                                                                          \
      int value() override { return n; }                                                           \
      static int call(int a) { return a * n; }                                                     \
    };                                                                                             \
    if (call)                                                                                      \
      *call = local::call;                                                                         \
    return pool ? new (nvm_alloc(pool, NVM_TYPE_ID(local), sizeof(local))) local : new local;      \
  }
static base *make(NVM_POOL *pool, int which, function *call) {
#ifdef MORE
  if (which == 5)
    LOCAL(5)
#endif
  if (which == 6)
    LOCAL(6)
  LOCAL(7)
}

#ifdef MORE
const pair &temporaries = pair{50, 70};
#else
const pair &temporaries = pair{70, 50};
#endif

static int named(int a) { return a * 3; }

int main(int count, char **values) {
  static int *(*volatile counting)(int) = counted;
  static base *(*volatile making)(NVM_POOL *, int, function *) = make;
  const char *which = values[count - 1];
  bool is_table = strcmp(which, "table") == 0;
  function inner = [](int a) { return a + 2; };
#ifdef MORE
  function before = inner;
  inner = [](int a) { return a + 2; };
  counting(before(3));
#endif
  holder wanted = {};
  if (strcmp(which, "lambda") == 0)
    wanted.call = lambda;
  if (strcmp(which, "inner") == 0)
    wanted.call = inner;
  if (strcmp(which, "member") == 0)
    free(making(nullptr, 6, &wanted.call));
  if (strcmp(which, "named") == 0)
    wanted.call = named;
  if (strcmp(which, "state") == 0)
    wanted.state = counting(6);
  if (strcmp(which, "alone") == 0)
    wanted.state = counting(8);
  if (strcmp(which, "temporary") == 0)
    wanted.state = &temporaries.b;
  NVM_POOL *pool = nvm_pool_open(values[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    auto *made = (holder *)nvm_calloc(pool, NVM_TYPE_ID(holder), 1, sizeof(holder));
    *made = wanted;
    if (is_table)
      made->object = making(pool, 6, nullptr);
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  auto *found = (holder *)nvm_pool_root(pool);
  if (found->call != wanted.call || found->state != wanted.state ||
      (is_table && found->object->value() != 6))
    return fprintf(stderr, "leads elsewhere\n"), 4;
  return nvm_pool_close(pool);
}
