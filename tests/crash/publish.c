// More bugs, of order and of code that only exists at run time, each against its twin.
// RUN: rm -rf %t && mkdir %t && %plain -DCHECKER -shared -fPIC -I %include %s -o %t/check.so
// RUN: %cc -O1 -w %s -o %t/right -ldl && rm -f %pool
// RUN: %crash --check %t/check.so -- %t/right %pool | FileCheck --check-prefix=NONE %s
// NONE: no finding

// RUN: %cc -O1 -w -DBUG_PUBLISH %s -o %t/publish -ldl && rm -f %pool
// RUN: %exit 1 %crash --check %t/check.so -- %t/publish %pool > %t/out
// RUN: FileCheck --check-prefix=PUBLISH %s < %t/out
// PUBLISH: publish.c:[[@LINE+63]]:{{.*}} error: checker: nvm_crash_check returned 1, in the state that commit 2 leaves
// PUBLISH: publish.c:{{.*}} note: the crash came at event
// PUBLISH: replay: nvmove crash --trace {{.*}} --check {{.*}} --state

// RUN: %cc -O1 -w -DBUG_DLSYM %s -o %t/dlsym -ldl && rm -f %pool
// RUN: %exit 1 env NVMOVE_METHOD=undo %crash -- %t/dlsym %pool > %t/out
// RUN: FileCheck --check-prefix=CALL %s < %t/out
// CALL: publish.c:{{.*}} error: unseen store: this call changed byte
// RUN: %cc -O1 -w -DBUG_VM %s -o %t/vm -ldl && rm -f %pool
// RUN: %exit 1 env NVMOVE_METHOD=shadow %crash -- %t/vm %pool > %t/out
// RUN: FileCheck --check-prefix=UNSEEN %s < %t/out
// UNSEEN: error: unseen store: byte {{.*}} of the pool was changed by code that nothing instruments
// UNSEEN-NEXT: publish.c:{{.*}} note: it happened after this

// RUN: %cc -O1 -w -DBUG_RENAME %s -o %t/rename -ldl && rm -f %pool
// RUN: %exit 1 %crash -- %t/rename %pool > %t/out; FileCheck --check-prefix=RENAME %s < %t/out
// RENAME: publish.c:[[@LINE+53]]:{{.*}} error: output before commit

#define _GNU_SOURCE
#include "nvmove/nvmove.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct letter {
  char text[64];
  long ready;
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct letter *l = nvm_pool_root(pool);
  return l && l->ready && strcmp(l->text, "all of it");
}
#else
static void copy(char *to, const char *from, size_t size) {
#if defined(BUG_DLSYM)
  void *(*volatile found)(void *, const void *, size_t) = dlsym(RTLD_DEFAULT, "memcpy");
  found(to, from, size);
#elif defined(BUG_VM)
  struct iovec here = {(void *)from, size}, there = {to, size};
  process_vm_writev(getpid(), &here, 1, &there, 1, 0);
#else
  memcpy(to, from, size);
#endif
}

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  char made[4096], final[4096];
  snprintf(made, sizeof made, "%s.new", argv[argc - 1]);
  snprintf(final, sizeof final, "%s.final", argv[argc - 1]);
  fclose(fopen(made, "w"));
  nvm_tx_begin(pool);
  struct letter *l = nvm_calloc(pool, NVM_TYPE_ID(struct letter), 1, sizeof *l);
  nvm_pool_set_root(pool, l);
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
#ifdef BUG_PUBLISH
  l->ready = 1;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
#endif
  copy(l->text, "all of it", 10);
  l->ready = 1;
#ifdef BUG_RENAME
  rename(made, final);
#endif
  nvm_tx_commit(pool);
  rename(made, final);
  remove(final);
  return nvm_pool_close(pool);
}
#endif
