// Pointers under a tag (NVM_TAGGED_PTR) to functions and constants hold after a restart, a rebuild, and a crash while they
// are bound anew; the tag stays.
// RUN: rm -f %t.pool && %cc %s -O0 -fPIE -pie -o %t.1 && %t.1 create %t.pool
// RUN: %t.1 check %t.pool && %t.1 check %t.pool
// RUN: %cc %s -O2 -fPIE -pie -DPADDING -o %t.2 && %t.2 check %t.pool && %t.1 check %t.pool
// RUN: %cc %s -O2 -fno-pie -no-pie -DPADDING -o %t.3 && %t.3 check %t.pool && %t.2 check %t.pool
// RUN: env NVMOVE_BASE=0x7ea000000000 %t.2 check %t.pool && %nvmove pool check %t.pool
// A crash at each step, and another program goes on.
// RUN: %python %S/statics.c.py %t.pool %t.1 %t.2 %t.3
// What is gone is named.
// RUN: %cc %s -O1 -DWITHOUT_CONSTANT -o %t.4 && %exit 1 %t.4 check %t.pool 2>&1 | FileCheck --check-prefix=GONE %s
// GONE: field low of struct thing points to constant of tagged-statics.c, which the program lacks
// A tag that leaves none of the bits that addresses never have: nothing could tell what is bound from what is not.
// RUN: %exit 3 %t.1 full %t.full 2>&1 | FileCheck --check-prefix=FULL %s
// FULL: unsafe pointer: field full of the struct whole
#include "nvmove/nvmove.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef PADDING
int padding(int n) { return n < 2 ? 1 : padding(n - 1) * padding(n - 2); }
const char other[100] = "more";
#endif
#ifdef WITHOUT_CONSTANT
#define constant renamed
#endif

static const long constant[] __attribute__((aligned(64))) = {1, 2};
__attribute__((aligned(16))) static int answer(void) { return 42; }
static int (*volatile answering)(void) = answer; // so that it stays

#define HIGHEST UINT64_C(0xff00000000000000)
#define HIGH UINT64_C(0xffff000000000000)
#define LOW UINT64_C(7)
#define FULL UINT64_C(0xffff800000000000)

typedef int function(void);

struct thing {
  struct thing *next;
  NVM_TAGGED_PTR(const long *, 7) low;
  NVM_TAGGED_PTR(const long *, 0xff00000000000000) highest;
  NVM_TAGGED_PTR(uintptr_t, 0xffff000000000007) both;
  NVM_TAGGED_PTR(function *, 0xffff000000000001) call;
  NVM_TAGGED_PTR(const char *, 0xffff000000000000) text;
};
struct whole {
  const long *plain;
  NVM_TAGGED_PTR(const long *, 0xffff800000000000) full;
};

enum { COUNT = 100 };

// Some as another process may leave their tags: as tokens have their highest bits.
static uint64_t tag(int i, uint64_t bits) {
  static const uint64_t patterns[] = {0, UINT64_MAX, UINT64_C(0x4e56000000000000), UINT64_C(0x7fff000000000003)};
  return patterns[i % 4] & bits;
}

#define TAGGED(pointer, i, bits) ((void *)((uintptr_t)(pointer) | tag(i, bits)))

static void set(struct thing *thing, int i, const char *text) {
  thing->low = TAGGED(constant, i, LOW);
  thing->highest = TAGGED(constant + 1, i, HIGHEST);
  thing->both = (uintptr_t)TAGGED(constant, i, HIGH | LOW);
  thing->call = (int (*)(void))TAGGED(answering, i, HIGH | 1);
  thing->text = TAGGED(text, i, HIGH);
}

static int create(const char *path) {
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  for (int i = 0; i < COUNT; i++) {
    nvm_tx_begin(pool);
    struct thing *made = nvm_calloc(pool, NVM_TYPE_ID(struct thing), 1, sizeof *made);
    made->next = nvm_pool_root(pool);
    set(made, i, "a text");
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
  for (const struct thing *at = nvm_pool_root(pool); at; at = at->next) {
    struct thing want;
    memset(&want, 0, sizeof want);
    want.next = at->next;
    const char *text = (const char *)((uintptr_t)at->text & ~HIGH);
    set(&want, --i, text);
    if (memcmp(&want, at, sizeof want) || strcmp(text, "a text") != 0)
      return fprintf(stderr, "thing %d is wrong\n", i), 4;
  }
  return i != 0 || nvm_pool_close(pool) != 0;
}

static int full(const char *path) {
  remove(path);
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  nvm_tx_begin(pool);
  struct whole *made = nvm_calloc(pool, NVM_TYPE_ID(struct whole), 1, sizeof *made);
  made->plain = constant;
  nvm_pool_set_root(pool, made);
  if (nvm_tx_commit(pool))
    return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  nvm_tx_begin(pool);
  made->full = constant;
  return nvm_tx_commit(pool) ? fprintf(stderr, "%s\n", nvm_strerror()), 3 : 0;
}

int main(int argc, char **argv) {
  (void)argc;
  return strcmp(argv[1], "create") == 0  ? create(argv[2])
         : strcmp(argv[1], "check") == 0 ? check(argv[2])
                                         : full(argv[2]);
}
