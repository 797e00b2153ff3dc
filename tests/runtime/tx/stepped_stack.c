/* stepped_stack.c: libnvmove as it is shipped, on the smallest stack; sanitizers would take more. */
#include "harness.h"
#include "store.h"

#include <limits.h>
#include <pthread.h>

static uint64_t *word;

static void *store_and_fail(void *result) {
  STORE(*word, 1);
  *(bool *)result = nvm_free(result) != 0 && nvm_errno() == NVM_EPOINTER;
  return NULL;
}

/* A thread's stack lends the library no more than a few words. */
TEST(review_a10_smallest_stack) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  pthread_attr_t attributes;
  pthread_t thread;
  bool failed = false;
  CHECK(nvm_tx_begin(pool) == 0 && (word = nvm_calloc(pool, 0, 1, sizeof *word)));
  CHECK(nvm_pool_set_root(pool, word) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
  CHECK(pthread_create(&thread, &attributes, store_and_fail, &failed) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && failed && *word == 1);
  CHECK(nvm_pool_close(pool) == 0);
}
