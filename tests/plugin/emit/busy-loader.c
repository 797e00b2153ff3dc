// Pointers to functions of libraries are committed while another thread loads and closes a library, whose constructor
// commits one itself: nobody reads what is unloaded meanwhile, and nobody waits for the loader with a lock of the runtime.
// RUN: %cc -O1 -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %cc -O1 -rdynamic %s -o %t -ldl
// RUN: timeout 200 %t %t.pool %t.so
#define _GNU_SOURCE
#include "nvmove/nvmove.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { NAMES = 48, ROUNDS = 16 };
struct root {
  void (*function[NAMES + 1])(void);
};
NVM_POOL *the_pool(void);

#ifdef LIBRARY
static const char much[1 << 22] = "to read, when the file is compared with what is loaded";
static void hello(void) {}
__attribute__((constructor)) static void come(void) {
  struct root *root = nvm_pool_root(the_pool());
  nvm_tx_begin(the_pool());
  root->function[NAMES] = hello;
  nvm_tx_commit(the_pool());
  __asm__ volatile("" ::"r"(much));
}
#else
static const char *const names[NAMES] = {
    "abs",    "labs",   "atoi",   "atol",    "atof",   "qsort",  "bsearch", "getenv",
    "setenv", "system", "rand",   "srand",   "exit",   "abort",  "fopen",   "fclose",
    "fread",  "fwrite", "fseek",  "ftell",   "fgets",  "fputs",  "puts",    "printf",
    "scanf",  "remove", "rename", "tmpfile", "setbuf", "fflush", "freopen", "ungetc",
    "rewind", "feof",   "ferror", "time",    "clock",  "mktime", "gmtime",  "asctime",
    "ctime",  "open",   "read",   "write",   "strtol", "strtod", "strdup",  "malloc"};
static NVM_POOL *pool;
static _Atomic int stop;

NVM_POOL *the_pool(void) { return pool; }

static void *load_and_close(void *path) {
  while (!stop) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return puts(dlerror()), path;
    dlclose(library);
  }
  return NULL;
}

static int commit_all(const char *path, void *library) {
  pthread_t loader;
  void *failed;
  int wrong = 0;
  unlink(path);
  pool = nvm_pool_create(path, 8 << 20);
  nvm_tx_begin(pool);
  struct root *root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  stop = 0;
  pthread_create(&loader, NULL, load_and_close, library);
  for (int i = 0; i < NAMES; i++) {
    nvm_tx_begin(pool);
    root->function[i] = (void (*)(void))dlsym(RTLD_DEFAULT, names[i]);
    if (nvm_tx_commit(pool))
      wrong = puts(nvm_strerror());
  }
  stop = 1;
  pthread_join(loader, &failed);
  nvm_tx_begin(pool);
  root->function[NAMES] = NULL;
  nvm_tx_commit(pool);
  return wrong || failed || nvm_pool_close(pool);
}

int main(int argc, char **argv) {
  int wrong = argc != 3;
  for (int round = 0; round < ROUNDS && !wrong; round++)
    wrong = commit_all(argv[1], argv[2]);
  return wrong;
}
#endif
