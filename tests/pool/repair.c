// `nvmove pool repair`: mends what is not lost, says what is, keeps what it changes.
// RUN: %cc %s -o %t
// RUN: %t %pool sound && %nvmove pool repair %pool | FileCheck --check-prefix=SOUND %s
// SOUND: nothing is wrong{{$}}
// RUN: %t %pool untyped && %nvmove pool repair %pool | FileCheck --check-prefix=UNTYPED %s
// UNTYPED: nothing is wrong, as far as can be seen: what 2 blocks without type hold was not looked at
// RUN: %t %pool header && %exit 1 %nvmove pool check %pool
// RUN: cp %pool %t.before && %nvmove pool repair --dry-run %pool | FileCheck --check-prefix=DRY %s
// DRY: would mend: the header: the copies differed
// DRY-NOT: kept in
// RUN: cmp %pool %t.before && rm -f %pool.repair-*
// RUN: %nvmove pool repair %pool | FileCheck --check-prefix=HEADER %s && %nvmove pool check %pool
// HEADER: mended: the header: the copies differed
// HEADER: what was changed is kept in [[POOL:.*]].repair-1
// RUN: cp %pool %t.mended && %exit 2 %nvmove pool repair %pool --undo %pool.repair-1 --dry-run 2>&1 | FileCheck --check-prefix=MODE %s
// RUN: %exit 2 %nvmove pool repair %pool --null-dangling --undo %pool.repair-1 2>&1 | FileCheck --check-prefix=MODE %s
// MODE: error: --undo goes with no other option of a repair
// RUN: cmp %pool %t.mended
// RUN: %nvmove pool repair %pool --undo %pool.repair-1 && cmp %pool %t.before
// RUN: %nvmove pool repair %pool --format=json | %python -m json.tool | FileCheck --check-prefix=JSON %s
// JSON: "kept_in": "{{.*}}.repair-2"
// JSON: "mended": [
// JSON-NEXT: "the header: the copies differed"
// RUN: %t %pool again && %exit 2 %nvmove pool repair %pool --undo %pool.repair-2 2>&1 | FileCheck --check-prefix=USED %s
// USED: error: {{.*}}: the pool was written to since that repair
// RUN: %exit 2 %nvmove pool repair %pool --undo %s 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: error: {{.*}}repair.c: this is not what a repair has kept, or it is damaged
// RUN: %t %pool dangling && %exit 1 %nvmove pool repair %pool | FileCheck --check-prefix=DANGLING %s
// DANGLING: not mended: field next of struct node at {{.*}} leads to 0x{{.*}}, where nothing is allocated (--null-dangling makes it null)
// DANGLING: still wrong: field next
// RUN: %nvmove pool repair %pool --null-dangling | FileCheck --check-prefix=NULL %s && %nvmove pool check %pool
// NULL: mended: field next of struct node {{.*}}; it is null
// RUN: %t %pool root && %exit 1 %nvmove pool repair %pool | FileCheck --check-prefix=ROOT %s
// ROOT: not mended: what the root was nothing says (0x{{.*}}, its copy 0x{{.*}}); 1 blocks have no other that leads to them: 0x{{.*}} (struct node)
// RUN: %t %pool both && %exit 2 %t %pool again 2>&1 | FileCheck --check-prefix=HINT %s
// HINT: try 'nvmove pool repair'
// RUN: %nvmove pool repair %pool && %t %pool again
// RUN: %t %pool run && %nvmove pool repair %pool | FileCheck --check-prefix=TABLE %s && %t %pool again
// TABLE: mended: chunk {{[0-9]+}}: a run of so many chunks ends outside the heap
// RUN: %exit 2 %nvmove pool repair %s 2>&1 | FileCheck --check-prefix=FOREIGN %s
// FOREIGN: this is no pool of nvmove
// RUN: %exit 2 %nvmove pool repair %pool.missing 2>&1 | FileCheck --check-prefix=MISSING %s
// MISSING: error: {{.*}}.missing: cannot be opened
#include "nvmove/nvmove.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef NVM_STRUCT node {
  struct node *next;
  long count;
}
node;

/* In the closed file, behind the runtime's back. */
static int put(const char *path, uint64_t offset, uint64_t value, size_t size) {
  int file = open(path, O_RDWR);
  return file < 0 || pwrite(file, &value, size, (off_t)offset) != (ssize_t)size || close(file);
}

/* Another byte than there is, whatever is drawn for it. */
static int flip(const char *path, uint64_t offset) {
  unsigned char byte;
  int file = open(path, O_RDONLY);
  return file < 0 || pread(file, &byte, 1, (off_t)offset) != 1 || close(file) ||
         put(path, offset, byte ^ 0xff, 1);
}

static int again(const char *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  const node *first = nvm_pool_root(pool);
  return first->count != 1 || first->next->count != 2 || nvm_pool_close(pool) != 0;
}

int main(int argc, char **argv) {
  const char *path = argv[1], *what = argc > 2 ? argv[2] : "";
  if (strcmp(what, "again") == 0)
    return again(path);
  unlink(path);
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  const char *base = nvm_pool_base(pool);
  nvm_tx_begin(pool);
  node *first = nvm_calloc(pool, NVM_TYPE_ID(node), 1, sizeof *first);
  first->count = 1;
  first->next = nvm_calloc(pool, NVM_TYPE_ID(node), 1, sizeof *first);
  first->next->count = 2;
  nvm_pool_set_root(pool, first);
  for (int i = 0; i < 2 && strcmp(what, "untyped") == 0; i++)
    nvm_calloc(pool, 0, 1, 100);
  uint64_t at = (uint64_t)((char *)first - base), address = (uint64_t)first;
  uint64_t span = at & ~UINT64_C(16383); /* chunks are 16 KiB, and so is all before the heap */
  if (nvm_tx_commit(pool) || nvm_pool_close(pool))
    return 1;
  if (strcmp(what, "header") == 0)
    return put(path, 4096 + 40, 7, 8);
  if (strcmp(what, "both") == 0)
    return flip(path, 40) || flip(path, 4096 + 40);
  if (strcmp(what, "dangling") == 0)
    return put(path, at, address + 0x3000, 8);
  if (strcmp(what, "root") == 0)
    return put(path, 0x3000, 0x1000, 8) || put(path, 0x3008, 0, 8);
  if (strcmp(what, "run") == 0) {
    uint64_t heap;
    int file = open(path, O_RDONLY);
    if (pread(file, &heap, 8, 64) != 8)
      return 1;
    return put(path, 0x10000 + ((span - heap) >> 14) * 8 + 7, 0x40, 1);
  }
  return 0;
}
