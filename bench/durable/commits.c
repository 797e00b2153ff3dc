/* commits.c: commits a second, and what a commit takes, on a pool of 64 MiB (../durable.py).
 *
 * usage: commits POOL THREADS SECONDS write|insert
 * write: a transaction stores 8 bytes at a random place of its thread's part. insert: it allocates 100
 * bytes, fills them, and links them into a list of its thread. Printed: commits, seconds, and the median
 * and 99.9th percentile of what the commits of the first thread took, in microseconds.
 */
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 1 << 22, THREADS_MAX = 16, SAMPLES_MAX = 1 << 22, ITEM = 100, ITEMS = 200000 };

struct item {
  struct item *next;
  char bytes[ITEM - sizeof(struct item *)];
};

struct root {
  struct {
    _Alignas(64) struct item *first;
  } lists[THREADS_MAX];
  uint64_t words[WORDS];
};

static NVM_POOL *pool;
static struct root *root;
static int threads, inserts;
static double seconds;
static uint64_t commits[THREADS_MAX * 8];
static float *samples;
static size_t sample_count;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void insert(struct item **list, uint64_t value) {
  struct item *item = nvm_alloc(pool, NVM_TYPE_ID(struct item), sizeof *item);
  if (!item) {
    fprintf(stderr, "%s\n", nvm_strerror());
    exit(1);
  }
  memset(item->bytes, (int)value, sizeof item->bytes);
  item->next = *list;
  *list = item;
}

static void *work(void *argument) {
  int self = (int)(intptr_t)argument;
  uint64_t state = 88172645463325252u + (uint64_t)self, share = WORDS / (uint64_t)threads,
           count = 0;
  double end = now() + seconds, before = now(), after;
  for (; before < end && !(inserts && count == ITEMS); before = after, count++) {
    if (nvm_tx_begin(pool))
      exit(1);
    uint64_t value = next(&state);
    if (inserts)
      insert(&root->lists[self].first, value);
    else
      root->words[(uint64_t)self * share + value % share] = value;
    if (nvm_tx_commit(pool)) {
      fprintf(stderr, "%s\n", nvm_strerror());
      exit(1);
    }
    after = now();
    if (self == 0 && sample_count < SAMPLES_MAX)
      samples[sample_count++] = (float)(1e6 * (after - before));
  }
  commits[self * 8] = count;
  return NULL;
}

static int by_size(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  if (argc != 5 || (threads = atoi(argv[2])) < 1 || threads > THREADS_MAX)
    return 2;
  seconds = atof(argv[3]);
  inserts = strcmp(argv[4], "insert") == 0;
  samples = malloc(SAMPLES_MAX * sizeof *samples);
  pool = nvm_pool_create(argv[1], 64 << 20);
  if (!pool || !samples || nvm_tx_begin(pool)) {
    fprintf(stderr, "%s\n", nvm_strerror());
    return 1;
  }
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  if (!root || nvm_pool_set_root(pool, root) || nvm_tx_commit(pool))
    return 1;
  pthread_t all[THREADS_MAX];
  double start = now();
  for (intptr_t i = 0; i < threads; i++)
    pthread_create(&all[i], NULL, work, (void *)i);
  uint64_t sum = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(all[i], NULL);
    sum += commits[i * 8];
  }
  double took = now() - start;
  qsort(samples, sample_count, sizeof *samples, by_size);
  printf("%llu %.3f %.2f %.2f\n", (unsigned long long)sum, took, (double)samples[sample_count / 2],
         (double)samples[sample_count * 999 / 1000]);
  return nvm_pool_close(pool) != 0;
}
