// Classes: members of virtual bases, pointers to vtables wherever they lie, pointers to member
// functions. All of them hold when the pool lies elsewhere and the program, too.
// RUN: rm -f %t.pool && %cc %s -O0 -fPIE -pie -lstdc++ -o %t.1 && %t.1 %t.pool && %t.1 %t.pool
// RUN: %cc %s -O2 -fPIE -pie -DPADDING -lstdc++ -o %t.2
// RUN: env NVMOVE_BASE=0x7ea000000000 %t.2 %t.pool && %t.1 %t.pool
// RUN: %nvmove pool leaks %t.pool | FileCheck --check-prefix=REACHED %s
// REACHED: the root leads to every block
// RUN: %nvmove pool gc %t.pool && %t.2 %t.pool && %nvmove pool check %t.pool
// RUN: %nvmove pool dump %t.pool | FileCheck %s
// CHECK: Diamond,
// CHECK: own: 5
// CHECK: n: "@
// A pointer to DRAM in a virtual base is one.
// RUN: rm -f %t.pool && not env DRAM=1 %t.1 %t.pool 2>&1 | FileCheck --check-prefix=UNSAFE %s
// UNSAFE: unsafe pointer: field n of the Diamond
#include "nvmove/nvmove.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#ifdef PADDING
int padding(int n) { return n < 2 ? 1 : padding(n - 1) * padding(n - 2); }
#endif

struct Node {
  long v;
};
struct Base {
  Node *n = nullptr;
  virtual long get() { return n->v; }
};
struct Pure { // has nothing but its vtable: may share a place with what derives from it
  virtual int kind() { return 1; }
};
struct Left : virtual Base, virtual Pure {
  long left = 3;
  int kind() override { return 2; }
};
struct Right : virtual Pure, virtual Base {
  Node *right = nullptr;
};
struct Diamond : Left, Right {
  long own = 5;
  long (Diamond::*call)() = &Diamond::mine;
  long (Diamond::*through)() = &Diamond::whole;
  long mine() { return own; }
  virtual long whole() { return own + 40; }
  int kind() override { return 7; }
};
struct Holder {
  Diamond two[2];
  Left one;
};

static NVM_POOL *pool;

template <class T> T *make() { return new (nvm_calloc(pool, NVM_TYPE_ID(T), 1, sizeof(T))) T; }

static Node *node(long v) {
  Node *made = make<Node>();
  made->v = v;
  return made;
}

static int fill(const char *path) {
  pool = nvm_pool_create(path, 4 << 20);
  nvm_tx_begin(pool);
  Holder *all = make<Holder>();
  for (Diamond &d : all->two) {
    d.n = node(42);
    d.right = node(43);
  }
  all->one.n = node(44);
  Diamond *single = make<Diamond>();
  single->n = getenv("DRAM") ? static_cast<Node *>(calloc(1, sizeof(Node))) : node(45);
  single->right = reinterpret_cast<Node *>(all);
  nvm_pool_set_root(pool, single);
  return nvm_tx_commit(pool);
}

__attribute__((noinline)) static long ask(Base *base) { return base->get(); }
__attribute__((noinline)) static int kind(Pure *pure) { return pure->kind(); }

int main(int, char **arguments) {
  pool = nvm_pool_open(arguments[1]);
  if (!pool && (nvm_errno() != NVM_EMISSING || fill(arguments[1])))
    return puts(nvm_strerror()), 1;
  auto *single = static_cast<Diamond *>(nvm_pool_root(pool));
  auto *all = reinterpret_cast<Holder *>(single->right);
  if (ask(single) != 45 || kind(single) != 7 || (single->*single->call)() != 5 ||
      (single->*single->through)() != 45)
    return 2;
  for (Diamond &d : all->two)
    if (ask(&d) != 42 || d.right->v != 43 || kind(&d) != 7 || (d.*d.call)() != 5)
      return 3;
  if (ask(&all->one) != 44 || kind(&all->one) != 2)
    return 4;
  return nvm_pool_close(pool) ? 5 : 0;
}
