/* ours.c: the workloads on libnvmove; stores noted as nvmove-cc would (tests/runtime/harness/store.h). */
#include "bench.h"

#include "heap/heap.h"
#include "ours.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 8 << 20 };

static NVM_POOL *create_array(const char *path, uint64_t **array) {
  NVM_POOL *pool = nvm_pool_create(path, (size_t)160 << 20);
  need(pool != NULL);
  nvm_tx_begin(pool);
  *array = nvm_alloc(pool, 0, WORDS * sizeof **array);
  need(*array && nvm_tx_commit(pool) == 0);
  for (size_t i = 0; i < WORDS;
       i += 512 * 64) { /* every page once, in transactions of moderate size */
    nvm_tx_begin(pool);
    for (size_t j = 0; j < 512 * 64; j += 512)
      STORE((*array)[i + j], 1);
    need(nvm_tx_commit(pool) == 0);
  }
  return pool;
}

struct threads {
  const struct workload *w;
  NVM_POOL *pool;
  uint64_t *array;
};

static void write_in_thread(void *argument, unsigned number) {
  const struct threads *t = argument;
  uint64_t state = 88172645463325252u + number;
  for (uint64_t i = 0; i < t->w->operations / t->w->threads; i++) {
    nvm_tx_begin(t->pool);
    for (size_t j = 0; j < t->w->parameter; j++)
      STORE(t->array[(bench_random(&state) & (WORDS / 8 - 1)) * 8 + number], j);
    nvm_tx_commit(t->pool);
  }
}

void ours_threads(const char *path, const struct workload *w, struct measure *result) {
  struct threads t = {.w = w};
  t.pool = create_array(path, &t.array);
  bench_start();
  bench_threads(w->threads, write_in_thread, &t);
  bench_stop(result, w->operations);
}

void ours_writes(const char *path, const struct workload *w, struct measure *result) {
  uint64_t *array;
  NVM_POOL *pool = create_array(path, &array);
  uint64_t state = 88172645463325252u;
  bench_start();
  for (uint64_t t = 0; t < w->operations; t++) {
    nvm_tx_begin(pool);
    for (size_t i = 0; i < w->parameter; i++)
      STORE(array[bench_random(&state) & (WORDS - 1)], i);
    nvm_tx_commit(pool);
  }
  bench_stop(result, w->operations);
  struct nvm_stats s;
  need(nvm_pool_stats(pool, &s) == 0);
}

void ours_alloc(const char *path, const struct workload *w, struct measure *result) {
  NVM_POOL *pool = nvm_pool_create(path, bench_room(w));
  need(pool != NULL);
  nvm_tx_begin(pool);
  void **slots = nvm_alloc(pool, 0, w->operations * sizeof *slots);
  need(slots != NULL);
  __nvm_note(slots, w->operations * sizeof *slots);
  memset(slots, 0, w->operations * sizeof *slots);
  need(nvm_tx_commit(pool) == 0);
  bench_start();
  for (uint64_t i = 0; i < w->operations; i++) {
    nvm_tx_begin(pool);
    void *block = nvm_alloc(pool, 7, w->parameter);
    STORE(slots[i], block);
    nvm_tx_commit(pool);
  }
  bench_stop(result, w->operations);
  need(slots[w->operations - 1] != NULL);
}

static void fill(const char *path, const struct workload *w) {
  NVM_POOL *pool = nvm_pool_create(path, (size_t)4400 << 20);
  need(pool != NULL);
  nvm_tx_begin(pool);
  void **slots = nvm_alloc(pool, 0, w->operations * sizeof *slots);
  need(slots && nvm_pool_set_root(pool, slots) == 0 && nvm_tx_commit(pool) == 0);
  for (uint64_t i = 0; i < w->operations;) {
    nvm_tx_begin(pool);
    for (int j = 0; j < 1000 && i < w->operations; j++, i++) {
      void *block = nvm_alloc(pool, 7, w->parameter);
      need(block != NULL);
      STORE(*(uint64_t *)block, i);
      STORE(slots[i], block);
    }
    need(nvm_tx_commit(pool) == 0);
  }
  STORE(*(uint64_t *)slots[0], 1);
}

void ours_reopen(const char *path, const struct workload *w, struct measure *result) {
  pid_t child = fork();
  if (child == 0) {
    fill(path, w);
    _exit(0); /* not closed: the next opening recovers */
  }
  int status;
  waitpid(child, &status, 0);
  need(status == 0);
  double start = 1e9 * wall_seconds();
  NVM_POOL *pool = nvm_pool_open(path);
  result->extra[0] = 1e9 * wall_seconds() - start;
  need(pool != NULL);
  start = 1e9 * wall_seconds();
  void **slots = nvm_pool_root(pool);
  need(*(uint64_t *)slots[w->operations - 1] == w->operations - 1);
  result->extra[1] = 1e9 * wall_seconds() - start;
  start = 1e9 * wall_seconds();
  nvm_tx_begin(pool);
  need(nvm_alloc(pool, 7, w->parameter) && nvm_tx_commit(pool) == 0);
  result->extra[2] = 1e9 * wall_seconds() - start;
  start = 1e9 * wall_seconds();
  nvmi_heap_read_all(pool); /* what is otherwise read bit by bit, where a span is first needed */
  result->extra[3] = 1e9 * wall_seconds() - start;
}
