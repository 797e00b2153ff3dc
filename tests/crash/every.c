// Every public function, by two threads where it may be called so, in a run that survives every crash.
// RUN: %python %S/Inputs/covers.py %s
// RUN: %cc %s -O1 -w -pthread -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash %sizes{--epoch-states 2 --samples 1 --per-point 2 --interrupt-every 1000|--epoch-states 64 --samples 32} -- %t %pool 2 2>&1 | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 2 --samples 1 --per-point 2 --interrupt-every 1000|--epoch-states 64 --samples 32} -- %t %pool 2 2>&1 | FileCheck %s
// RUN: rm -f %pool && %crash --model=process -- %t %pool 2 2>&1 | FileCheck --check-prefix=PROCESS %s
// CHECK-NOT: {{error|warning}}:
// CHECK: no finding: each failure point was explored, but not every state of it
// PROCESS: no finding
#include "nvmove/backup.h"
#include "nvmove/inspect.h"
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEGABYTE = 1 << 20, THREADS = 2, TEXTS = 6, ROUND = 40, LARGE = 300000 };

typedef NVM_STRUCT text {
  NVM_PTR(struct text) next;
  void (*say)(void);
  char bytes[];
} text;

typedef NVM_STRUCT root {
  NVM_PTR(text) first[THREADS];
  long rounds;
} root;

static NVM_POOL *pool;

#define MUST(good)                                                                                 \
  do {                                                                                             \
    if (!(good))                                                                                   \
      fprintf(stderr, "line %d: %s\n", __LINE__, nvm_strerror()), exit(1);                         \
  } while (0)

static void hush(void) {}

static bool count_block(void *context, const struct nvm_block *block) {
  ++*(long *)context;
  return block->size != 0;
}

static void fatal(enum nvm_error code, const char *message) {
  fprintf(stderr, "%d: %s\n", code, message);
}

/* One transaction makes a text, one makes it longer, and one takes it back. */
static void *write_texts(void *argument) {
  long me = (long)argument;
  root *r = nvm_pool_root(pool);
  for (long i = 0; i < TEXTS; i++) {
    nvm_tx_begin(pool);
    text *made = nvm_alloc(pool, NVM_TYPE_ID(text), sizeof *made + (size_t)(i + 1) * 20);
    made->next = r->first[me];
    made->say = i % 2 ? hush : NULL;
    snprintf(made->bytes, 20, "%ld.%ld", me, i);
    r->first[me] = made;
    nvm_tx_commit(pool);
    nvm_tx_begin(pool);
    made = nvm_realloc(pool, made, sizeof *made + (size_t)(i + 9) * 40);
    strcat(made->bytes, " and more");
    r->first[me] = made;
    if (i % 3 == 2) {
      nvm_tx_abort(pool);
      continue;
    }
    nvm_tx_commit(pool);
    MUST(nvm_usable_size(made) >= sizeof *made + (size_t)(i + 9) * 40 && nvm_pool_of(made) == pool);
  }
  nvm_tx_begin(pool);
  text *gone = r->first[me];
  r->first[me] = gone->next;
  nvm_free(gone);
  nvm_tx_commit(pool);
  return NULL;
}

static void count_calls(void *context, uint64_t done, uint64_t total) {
  ++*(long *)context;
  MUST(done <= total);
}

static void look(const char *path) {
  struct nvm_info info;
  struct nvm_stats stats;
  struct nvm_usage usage;
  struct nvm_account account;
  long blocks = 0;
  MUST(nvm_pool_info(pool, &info) == 0 && nvm_pool_stats(pool, &stats) == 0);
  MUST(nvm_pool_usage(pool, &usage) == 0 && nvm_pool_account(pool, &account) == 0);
  MUST(nvm_pool_verify(pool, NULL, NULL) == 0 && nvm_pool_verify_pointers(pool, NULL, NULL) == 0);
  MUST(nvm_pool_each_bad_pointer(pool, NULL, NULL) == 0);
  long calls = 0;
  nvm_set_progress(count_calls, &calls);
  MUST(nvm_pool_each_block(pool, true, count_block, &blocks) == 0 && blocks > 0 && calls > 0);
  nvm_set_progress(NULL, NULL);
  MUST(nvm_pool_base(pool) == (const void *)(uintptr_t)account.base && nvm_errno() == NVM_OK);
}

/* Of the open pool, and from outside. */
static void back_up(const char *path) {
  for (int i = 0; i < 2; i++) {
    char copy[4096];
    struct nvm_backup told = {0};
    snprintf(copy, sizeof copy, "%s.copy", path);
    MUST((i ? nvm_pool_backup_file(path, copy, &told) : nvm_pool_backup(pool, copy, &told)) == 0);
    MUST(nvm_pool_check(copy, NULL, NULL) == 0 && remove(copy) == 0);
  }
}

int main(int argc, char **argv) {
  const char *path = argv[1];
  nvm_set_fatal_handler(fatal);
  MUST(pool = nvm_pool_create(path, 10 * MEGABYTE));
  nvm_tx_begin(pool);
  root *made = nvm_calloc(pool, NVM_TYPE_ID(root), 1, sizeof *made);
  MUST(nvm_pool_set_root(pool, made) == 0);
  nvm_tx_commit(pool);
  MUST(nvm_pool_attached() == NULL);
  MUST(nvm_pool_count_references(pool) == 0);
  for (int round = 0; round < atoi(argv[2]); round++) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
      pthread_create(&threads[i], NULL, write_texts, (void *)i);
    for (int i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
    root *r = nvm_pool_root(pool);
    nvm_tx_begin(pool);
    r->first[round % THREADS] = NULL; /* for the release; a ring is for the collection */
    r->rounds++;
    (void)nvm_alloc(pool, 0, LARGE);
    text *ring = nvm_alloc(pool, NVM_TYPE_ID(text), sizeof *ring);
    ring->next = ring;
    ring->say = NULL;
    nvm_tx_commit(pool);
    struct nvm_collected collected;
    uint64_t released;
    MUST(nvm_pool_release(pool, &released) == 0 && released > 0);
    MUST(nvm_pool_collect(pool, &collected) == 0 && collected.freed_blocks > 0);
    look(path);
    back_up(path);
    struct nvm_last_opening last;
    MUST(nvm_pool_close(pool) == 0 && nvm_pool_check(path, NULL, NULL) == 0);
    MUST(nvm_pool_last_opening(path, &last) == 0 && last.method && last.domain);
    MUST(pool = nvm_pool_open_foreign(path));
    MUST(nvm_pool_resize(pool, (size_t)(round % 2 ? 10 : 12) * MEGABYTE) == 0);
    MUST(nvm_pool_close(pool) == 0);
    const char *base = (const char *)NVM_RANGE_BASE + ((size_t)(3 + round % ROUND * 5) << 30);
    MUST(pool = round % 2 ? nvm_pool_open(path) : nvm_pool_open_at(path, base));
  }
  root *r = nvm_pool_root(pool);
  MUST(r->rounds == atoi(argv[2]));
  return nvm_pool_close(pool) != 0;
}
