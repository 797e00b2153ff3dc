// The types of a library are known to the checks of a commit: one that the program is linked with, one that
// was loaded before the pool was opened, one that comes later, and one that has gone again.
// RUN: %cc -O1 -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %cc -O1 %s -o %t -ldl
// RUN: %t id %t.so > %t.id
// RUN: rm -f %t.pool && %t before %t.so %t.pool
// RUN: rm -f %t.pool && %t after %t.so %t.pool %t.id
// RUN: %t again %t.so %t.pool
// RUN: rm -f %t.pool && %t gone %t.so %t.pool %t.id
// RUN: %cc -O1 %s -Wl,--no-as-needed %t.so -o %t.linked -ldl
// RUN: rm -f %t.pool && %t.linked before %t.so %t.pool
#include "nvmove/nvmove.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LIBRARY
struct node {
  long key;
  struct node *next;
};
unsigned long node_id(void) { return NVM_TYPE_ID(struct node); }
void link_to(struct node *node, void *next) { node->next = next; }
#else
struct own { // the program has types that are judged, too
  void *first;
};

static void need(int condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "%s: %s\n", what, nvm_strerror());
  exit(3);
}

static void *load(const char *path, const char *name, void **library) {
  *library = dlopen(path, RTLD_NOW);
  need(*library != NULL, "dlopen");
  return dlsym(*library, name);
}

// What lies outside the pool goes into the block's second word, which the library calls a pointer.
static void refused(NVM_POOL *pool, void **block, void (*link_to)(void *, void *)) {
  static int outside;
  nvm_tx_begin(pool);
  if (link_to)
    link_to(block, &outside);
  else
    block[1] = &outside;
  need(nvm_tx_commit(pool) != 0 && nvm_errno() == NVM_EUNSAFE, "an unsafe pointer was committed");
  need(strstr(nvm_strerror(), "next of the struct node") != NULL, "the wrong message");
  need(block[1] == NULL, "it was not undone");
}

static void *allocate(NVM_POOL *pool, unsigned long id) {
  nvm_tx_begin(pool);
  struct own *own = nvm_calloc(pool, NVM_TYPE_ID(struct own), 1, sizeof *own);
  void **block = nvm_calloc(pool, id, 1, 16);
  need(own && block && nvm_pool_set_root(pool, block) == 0, "allocate");
  own->first = block;
  *block = &pool; // a number to whoever knows the type
  need(nvm_tx_commit(pool) == 0, "commit");
  return block;
}

static unsigned long number_in(const char *path) {
  unsigned long number = 0;
  FILE *f = fopen(path, "r");
  need(f && fscanf(f, "%lu", &number) == 1, "the type");
  fclose(f);
  return number;
}

int main(int argc, char **argv) {
  void *library;
  const char *mode = argv[1];
  if (argc == 3) { // what the type is called in runs that do not know it
    unsigned long (*node_id)(void) = (unsigned long (*)(void))load(argv[2], "node_id", &library);
    return printf("%lu\n", node_id()) < 0;
  }
  if (strcmp(mode, "before") == 0) {
    unsigned long (*node_id)(void) = (unsigned long (*)(void))load(argv[2], "node_id", &library);
    NVM_POOL *pool = nvm_pool_create(argv[3], 1 << 20);
    refused(pool, allocate(pool, node_id()), (void (*)(void *, void *))dlsym(library, "link_to"));
    return nvm_pool_close(pool);
  }
  if (strcmp(mode, "again") == 0) { // nothing in the pool says what the type is
    NVM_POOL *pool = nvm_pool_open(argv[3]);
    need(pool != NULL, "open");
    refused(pool, nvm_pool_root(pool), (void (*)(void *, void *))load(argv[2], "link_to", &library));
    return nvm_pool_close(pool);
  }
  NVM_POOL *pool = nvm_pool_create(argv[3], 1 << 20);
  void *block = allocate(pool, number_in(argv[4]));
  void *link_to = load(argv[2], "link_to", &library);
  refused(pool, block, (void (*)(void *, void *))link_to);
  if (strcmp(mode, "gone") == 0) {
    need(dlclose(library) == 0, "dlclose");
    refused(pool, block, NULL);
  }
  return nvm_pool_close(pool);
}
#endif
