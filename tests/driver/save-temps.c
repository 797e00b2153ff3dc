// What keeps its intermediate files, or its bitcode in the object, is instrumented as it is without: with its settings,
// its types and the marks of its source.
// RUN: rm -rf %t && mkdir %t && cd %t && %cc -O1 %s -o plain && ./plain pool
// RUN: cd %t && %cc -O1 -save-temps %s -o cwd && ls | FileCheck --check-prefix=FILES %s && ./cwd pool
// RUN: cd %t && %cc -O0 -save-temps=cwd %s -o zero && ./zero pool && %cc -O2 -g --save-temps -c %s -o two.o && %cc two.o -o two && ./two pool
// RUN: mkdir %t/o && cd %t && %cc -O1 -save-temps=obj %s -o o/obj && ls o | FileCheck --check-prefix=FILES %s && ./o/obj pool
// RUN: cd %t && %cc -O1 -fembed-bitcode %s -o embedded && ./embedded pool
// RUN: cd %t && %cc -O1 -flto -fuse-ld=lld -save-temps %s -o lto && ./lto pool
// Without the passes that optimize there are those that make the notes.
// RUN: cd %t && %cc -O1 -Xclang -disable-llvm-passes %s -o whole && ./whole pool && llvm-objdump -d whole | FileCheck --check-prefix=WHOLE %s
// RUN: cd %t && %cc -O2 -Xclang -disable-llvm-optzns -S %s -o whole.s && %cc whole.s -o assembled && ./assembled pool
// WHOLE: call{{.*}}<__nvm_note
// FILES-DAG: save-temps.bc
// FILES-DAG: save-temps.i
// FILES-DAG: save-temps.s
// RUN: cd %t && %cc -O1 -save-temps --nvmove-commit=set --nvmove-remarks %s -o commit 2>&1 | FileCheck --check-prefix=REMARKS %s && llvm-objdump -d commit | FileCheck --check-prefix=COMMIT %s
// REMARKS: nvmove: {{.*}}save-temps.{{[ci]}}: {{[0-9]+}} writes
// REMARKS-NOT: nvmove:
// COMMIT: <set>:
// COMMIT: __nvm_commit_point
// RUN: cd %t && %exit 1 %cc -save-temps --nvmove-atomics=maybe -c %s 2>&1 | FileCheck --check-prefix=VALUE %s
// VALUE: error: value of '--nvmove-atomics=maybe' not understood
// What pre-compiled functions write is warned about, also in preprocessed sources.
// RUN: cd %t && %cc -O1 -DWARN -save-temps -c %s 2>&1 | FileCheck --check-prefix=WARN %s
// RUN: cd %t && %cc -O1 -DWARN -E %s -o warn.i && %cc -O1 -c warn.i 2>&1 | FileCheck --check-prefix=WARN %s
// WARN: warning: {{.*}}pre-compiled 'ioctl' may write persistent memory through argument 3
#include "nvmove/nvmove.h"
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

struct node {
  char text[32];
  long count;
  struct node *next;
  long seen NVM_VOLATILE;
};

__attribute__((noinline)) void set(struct node *n, const char *text) {
  strcpy(n->text, text);
  n->count++;
  n->seen++;
}

#ifdef WARN
int ask(int *number) { return ioctl(0, 1, number); }
#endif

int main(int argc, char **argv) {
  (void)argc;
  remove(argv[1]);
  NVM_POOL *pool = nvm_pool_create(argv[1], 4 << 20);
  nvm_tx_begin(pool);
  struct node *n = nvm_calloc(pool, NVM_TYPE_ID(struct node), 1, sizeof *n);
  nvm_pool_set_root(pool, n);
  set(n, "before");
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  set(n, "in what is aborted");
  nvm_tx_abort(pool);
  return strcmp(n->text, "before") != 0 || n->count != 1 || nvm_pool_close(pool);
}
