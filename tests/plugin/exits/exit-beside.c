// A thread that still runs stores just when exit has left the pools, and is about to ask for one more look (atexit). A function of
// exit stores meanwhile: that is kept.
// RUN: %cc -O1 -pthread %s -o %t && rm -f %t.pool
// RUN: env NVMOVE_METHOD=undo %t %t.pool && env NVMOVE_METHOD=undo %t %t.pool && rm -f %t.pool
// RUN: env NVMOVE_METHOD=shadow %t %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
// What a stream's own function stores behind all functions of exit is told of.
// RUN: %t %t.pool stream 2>&1 | FileCheck %s
// CHECK: nvmove: what the process stores after the last function that exit calls
#define _GNU_SOURCE
#include <dlfcn.h>
#include <nvmove/nvmove.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct box {
  volatile long others, at_exit;
};
static struct box *box;
static NVM_POOL *pool;
static pthread_t leaving;
static volatile int is_leaving, asks;

// The C library's: atexit comes here. The other thread takes its time.
int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
  int (*real)(void (*)(void *), void *, void *) =
      (int (*)(void (*)(void *), void *, void *))dlsym(RTLD_NEXT, "__cxa_atexit");
  if (leaving && !pthread_equal(pthread_self(), leaving)) {
    asks = 1;
    usleep(100000);
  }
  return real(function, argument, library);
}

static void at_exit(void) {
  is_leaving = 1;
  for (int i = 0; i < 1000 && !asks; i++)
    usleep(100);
  box->at_exit++;
}

static void *store_on(void *unused) {
  for (; !is_leaving;)
    usleep(100);
  for (;;) {
    nvm_tx_begin(pool);
    box->others++;
    nvm_tx_commit(pool);
  }
  return unused;
}

static ssize_t write_there(void *cookie, const char *text, size_t size) {
  (void)cookie, (void)text;
  box->others++;
  return (ssize_t)size;
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (argc == 2)
    atexit(at_exit);
  int is_new = access(argv[1], F_OK);
  pool = is_new ? nvm_pool_create(argv[1], 1 << 20) : nvm_pool_open(argv[1]);
  box = nvm_pool_root(pool);
  if (!box) {
    nvm_tx_begin(pool);
    box = nvm_calloc(pool, 0, 1, sizeof *box);
    nvm_pool_set_root(pool, (void *)box);
    nvm_tx_commit(pool);
  }
  if (argc > 2) {
    fputs("text", fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_there}));
    return 0;
  }
  leaving = pthread_self();
  pthread_create(&thread, NULL, store_on, NULL);
  if (!is_new && box->at_exit != 1)
    _exit(2);
  exit(0);
}
