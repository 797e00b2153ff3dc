// Builds of one program that have the same build id, or none: another build is one all the same, and what moved is bound
// anew. What tells them apart is what is loaded of them and nobody writes, pointers in tables included.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %cc -O1 %s -Wl,--build-id=0x12345678 -o short1 && %cc -O1 -DSWAPPED %s -Wl,--build-id=0x12345678 -o short2
// RUN: ./short1 short.pool make && ./short1 short.pool && ./short2 short.pool && ./short1 short.pool
// An id as long as a hash that somebody has chosen, as that of a commit.
// RUN: %cc -O1 %s -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233 -o long1
// RUN: %cc -O1 -DSWAPPED %s -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233 -o long2
// RUN: ./long1 long.pool make && ./long1 long.pool && ./long2 long.pool && ./long1 long.pool
// Relocations that have their addends where they apply.
// RUN: %cc -O1 %s -Wl,--build-id=none -Wl,-z,pack-relative-relocs -o relr1
// RUN: %cc -O1 -DSWAPPED %s -Wl,--build-id=none -Wl,-z,pack-relative-relocs -o relr2
// RUN: ./relr1 relr.pool make && ./relr1 relr.pool && ./relr2 relr.pool && ./relr1 relr.pool
// Pointers that need no relocation.
// RUN: %cc -O1 -fPIE -no-pie %s -Wl,--build-id=none -Wl,-z,relro -o fixed1
// RUN: %cc -O1 -fPIE -no-pie -DSWAPPED %s -Wl,--build-id=none -Wl,-z,relro -o fixed2
// RUN: ./fixed1 fixed.pool make && ./fixed1 fixed.pool && ./fixed2 fixed.pool && ./fixed1 fixed.pool
// Between tables of programs with AddressSanitizer lies what only code without it may read.
// RUN: %cc -O1 -fsanitize=address -fPIE -no-pie %s -Wl,--build-id=none -Wl,-z,relro -o asan && ./asan a.pool make && ./asan a.pool
// In the same build nothing needs a name.
// RUN: strip short1 long1 relr1 fixed1 && ./short1 short.pool && ./long1 long.pool && ./relr1 relr.pool && ./fixed1 fixed.pool
// RUN: ./short1 nameless.pool make && ./short1 nameless.pool && %exit 1 ./short2 nameless.pool 2>&1 | FileCheck %s
// CHECK: points to nameless data of another build of the program
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>

typedef int (*operation)(int);
struct operations {
  operation call;
  long number;
};

int one(int a) { return a + 1; }
int two(int a) { return a * 100; }
#ifdef SWAPPED
const struct operations second = {two, 2}, first = {one, 1};
#else
const struct operations first = {one, 1}, second = {two, 2};
#endif
const struct operations *const all[] = {&first, &second};

static volatile int zero;

struct holder {
  const struct operations *first, *second;
};

int main(int count, char **values) {
  NVM_POOL *pool = nvm_pool_open(values[1]);
  if (!pool && nvm_errno() == NVM_EMISSING && count == 3) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    struct holder *made = nvm_calloc(pool, NVM_TYPE_ID(struct holder), 1, sizeof *made);
    made->first = all[zero];
    made->second = all[zero + 1];
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct holder *holder = nvm_pool_root(pool);
  if (holder->first->number != 1 || holder->first->call(5) != 6 || holder->second->call(5) != 500)
    return fprintf(stderr, "leads to %ld\n", holder->first->number), 4;
  return nvm_pool_close(pool);
}
