// Pointers that are easily passed over: in a block that is shorter than its type, in packed records,
// behind an array of no elements, under a tag in the highest bits. They are judged, followed, moved.
// RUN: %cc -O1 %s -o %t
// RUN: rm -f %t.pool && %t make %t.pool packed && %t look %t.pool
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow %t make %t.pool packed && %t look %t.pool
// RUN: rm -f %t.pool && %t make %t.pool packed count && %t look %t.pool
// A pool with unaligned pointers stays at its addresses.
// RUN: rm -f %t.pool && %t make %t.pool && env NVMOVE_BASE=0x7e9000000000 %t look %t.pool
#include "nvmove/inspect.h"
#include "nvmove/nvmove.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 5 };
#define TAG UINT64_C(0xffff000000000007)

struct target {
  char text[200];
};
struct named {
  struct target *to;
  long length;
  char name[256];
};
struct __attribute__((packed)) packed {
  char kind;
  struct target *to;
};
struct marked {
  long before;
  char mark[0];
  struct target *to;
  long behind;
};
struct tagged {
  NVM_TAGGED_PTR(struct target *, TAG) to;
};
struct decided {
  int kind;
  union {
    NVM_WHEN(kind, 1) struct target *to;
    uint64_t number;
  };
  char name[256];
};
struct root {
  struct named *named;
  struct packed *packed;
  struct marked *marked;
  struct tagged *tagged;
  struct decided *decided;
};

static NVM_POOL *pool;
static struct target outside;

#define EXPECT(what)                                                                               \
  if (!(what))                                                                                     \
  return printf("%d: %s: %s\n", __LINE__, #what, nvm_strerror()), 1

static struct target *target(void) {
  struct target *made = nvm_calloc(pool, NVM_TYPE_ID(struct target), 1, sizeof *made);
  strcpy(made->text, "still there");
  return made;
}

static int refused(void) { return nvm_tx_commit(pool) != 0 && nvm_errno() == NVM_EUNSAFE; }

static struct target *plain(uint64_t word) { return (struct target *)(uintptr_t)(word & ~TAG); }

static int make(const char *path, int packed, int counted) {
  EXPECT(pool = nvm_pool_create(path, 8 << 20));
  EXPECT(!counted || nvm_pool_count_references(pool) == 0);
  nvm_tx_begin(pool);
  struct root *root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  size_t brief = offsetof(struct named, name) + 5;
  root->named = nvm_alloc(pool, NVM_TYPE_ID(struct named), brief);
  root->named->to = target();
  if (packed)
    root->packed = nvm_calloc(pool, NVM_TYPE_ID(struct packed), MANY, sizeof *root->packed);
  root->marked = nvm_calloc(pool, NVM_TYPE_ID(struct marked), MANY, sizeof *root->marked);
  root->tagged = nvm_calloc(pool, NVM_TYPE_ID(struct tagged), 1, sizeof *root->tagged);
  root->decided = nvm_calloc(pool, NVM_TYPE_ID(struct decided), 1, offsetof(struct decided, name) + 5);
  for (int i = 0; i < MANY; i++) {
    root->marked[i].to = target();
    if (packed)
      root->packed[i].to = target();
  }
  root->tagged->to = (void *)((uintptr_t)target() | UINT64_C(0x1234) << 48 | 5);
  root->decided->kind = 1;
  root->decided->to = target();
  nvm_pool_set_root(pool, root);
  EXPECT(nvm_tx_commit(pool) == 0);
  for (int i = 0; i < MANY; i++) {
    if (packed) {
      nvm_tx_begin(pool);
      root->packed[i].to = &outside;
      EXPECT(refused());
    }
    nvm_tx_begin(pool);
    root->marked[i].to = &outside;
    EXPECT(refused());
  }
  nvm_tx_begin(pool);
  root->named->to = &outside;
  EXPECT(refused());
  nvm_tx_begin(pool);
  root->tagged->to = (void *)((uintptr_t)&outside | UINT64_C(0x1234) << 48);
  EXPECT(refused());
  nvm_tx_begin(pool);
  root->decided->number = (uintptr_t)&outside;
  EXPECT(refused());
  return nvm_pool_close(pool);
}

static int look(const char *path) {
  struct nvm_collected collected;
  uint64_t freed = 0;
  EXPECT(pool = nvm_pool_open(path));
  struct root *root = nvm_pool_root(pool);
  EXPECT(nvm_pool_collect(pool, &collected) == 0 && collected.freed_blocks == 0);
  EXPECT(nvm_pool_release(pool, &freed) != 0 || freed == 0);
  for (int i = 0; i < MANY; i++) {
    EXPECT(!root->packed || strcmp(root->packed[i].to->text, "still there") == 0);
    EXPECT(strcmp(root->marked[i].to->text, "still there") == 0);
  }
  EXPECT(strcmp(root->named->to->text, "still there") == 0);
  EXPECT(strcmp(root->decided->to->text, "still there") == 0);
  EXPECT(strcmp(plain((uintptr_t)root->tagged->to)->text, "still there") == 0);
  EXPECT((uintptr_t)root->tagged->to >> 48 == 0x1234);
  return nvm_pool_close(pool);
}

int main(int count, char **values) {
  return strcmp(values[1], "make") ? look(values[2]) : make(values[2], count > 3, count > 4);
}
