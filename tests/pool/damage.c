// Pointers that lead nowhere are found by `nvmove pool check`, each named.
// RUN: %cc %s -o %t
// RUN: %t %pool sound && %nvmove pool check %pool
// RUN: %t %pool dangling && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=DANGLING %s
// DANGLING: field next of struct node at 0x{{.*}} leads to 0x{{.*}}, where nothing is allocated
// DANGLING: 1 fault
// RUN: %t %pool freed && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=DANGLING %s
// RUN: %t %pool tables && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=DANGLING %s
// RUN: %t %pool beyond && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=DANGLING %s
// RUN: %t %pool dram && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=DRAM %s
// DRAM: field next of struct node at 0x{{.*}} leads out of the pool (0x7f1234567890)
// RUN: %t %pool foreign && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=FOREIGN %s
// FOREIGN: field next of struct node at 0x{{.*}} leads to another pool (0x7e
// RUN: %t %pool misaligned && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=MISALIGNED %s
// MISALIGNED: field next of struct node at 0x{{.*}} leads to 0x{{.*}}, which is not aligned for struct node
// RUN: %t %pool tail && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=TAIL %s
// TAIL: field [] of struct node * at 0x{{.*}} leads out of the pool
// RUN: %t %pool function && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=FUNCTION %s
// FUNCTION: field call of struct node at 0x{{.*}} should lead to the program, and leads into the pool
// RUN: %t %pool code && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=CODE %s
// CODE: field call of struct node at 0x{{.*}} leads out of the pool
// RUN: %t %pool weak && %exit 1 %nvmove pool check %pool --format=json | %python -m json.tool | FileCheck --check-prefix=WEAK %s
// WEAK: "faults": [
// WEAK-NEXT: "field weak of struct node at 0x
// RUN: %t %pool undecided && %nvmove pool check %pool
// RUN: %t %pool root && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=ROOT %s
// ROOT: the root 0x{{.*}} is not what its copy says
// RUN: %t %pool table && %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=TABLE %s
// TABLE: block {{[0-9]+}}: no type
#include "nvmove/nvmove.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

typedef NVM_STRUCT node {
  struct node *next;
  NVM_WEAK_PTR(struct node) weak;
  int (*call)(void);
  union {
    void *pointer;
    long number;
  } either;
  long count;
  NVM_PTR(struct node) tail[];
}
node;

static int ok(void) { return 0; }

/* In the closed file, behind the runtime's back. */
static int put(const char *path, uint64_t offset, uint64_t value, size_t size) {
  int file = open(path, O_RDWR);
  return file < 0 || pwrite(file, &value, size, (off_t)offset) != (ssize_t)size || close(file);
}

int main(int argc, char **argv) {
  const char *path = argv[1], *what = argc > 2 ? argv[2] : "";
  unlink(path);
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  const char *base = nvm_pool_base(pool);
  nvm_tx_begin(pool);
  node *first = nvm_calloc(pool, NVM_TYPE_ID(node), 1, sizeof *first + 3 * sizeof first->tail[0]);
  node *second = nvm_calloc(pool, NVM_TYPE_ID(node), 1, 4096);
  node *freed = nvm_calloc(pool, NVM_TYPE_ID(node), 1, sizeof *freed);
  first->next = second;
  first->call = ok;
  first->tail[2] = (node *)((char *)second + 4096); /* the end of something */
  nvm_pool_set_root(pool, first);
  nvm_tx_commit(pool);
  nvm_free(freed);
  uint64_t next = (uint64_t)((char *)&first->next - base), bases = (uint64_t)base;
  uint64_t gone = (uint64_t)freed, block = (uint64_t)second, start = (uint64_t)first;
  if (nvm_pool_close(pool))
    return 1;
  if (!strcmp(what, "dangling"))
    return put(path, next, bases + 0xe0000, 8);
  if (!strcmp(what, "freed"))
    return put(path, next, gone, 8);
  if (!strcmp(what, "tables"))
    return put(path, next, bases + 0x3000, 8);
  if (!strcmp(what, "beyond"))
    return put(path, next, bases + 0x30000000, 8);
  if (!strcmp(what, "dram"))
    return put(path, next, 0x7f1234567890, 8);
  if (!strcmp(what, "foreign"))
    return put(path, next, bases ^ UINT64_C(1) << 33, 8);
  if (!strcmp(what, "misaligned"))
    return put(path, next, block + 4, 8);
  if (!strcmp(what, "weak"))
    return put(path, next + 8, gone, 8);
  if (!strcmp(what, "function"))
    return put(path, next + 16, block, 8);
  if (!strcmp(what, "code"))
    return put(path, next + 16, 0x7f1234567890, 8);
  if (!strcmp(what, "undecided"))
    return put(path, next + 24, 0x7f1234567890, 8);
  if (!strcmp(what, "tail"))
    return put(path, next + 48, 0x7f1234567890, 8);
  if (!strcmp(what, "root"))
    return put(path, 0x3000, gone, 8) || put(path, 0x3008, 0, 8);
  if (!strcmp(what, "table")) /* the type of the first block of its span */
    return put(path, (start - bases) & ~UINT64_C(0x3fff), 0xff00, 2);
  return 0;
}
