/* loads.c: a known number of loads of 8 bytes: one after the other, at random, each at the place that the
 * last one names. Each thread measures slices of its loads. Prints the nanoseconds of a load: in the median of all
 * threads' slices, which nothing interrupts.
 *
 * usage: loads sequential|random|chasing COUNT THREADS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEMS = 1 << 12, SLICE = 1000, THREADS_MAX = 16 };

struct item {
  struct item *next;
  long key;
  char rest[48]; /* of a cache line */
};

static struct item *items;
static unsigned *order;
static long count;
static const char *kind;

static volatile long seen; /* so that the loads are not left out */

static pthread_barrier_t all_begin;
static double *slices; /* the threads' one behind the other */

static struct item *walk(struct item *at, long from) {
  long sum = 0;
  if (!strcmp(kind, "chasing")) {
    for (long i = 0; i < SLICE; i++)
      at = at->next;
    return at;
  }
  for (long i = from; i < from + SLICE; i++) {
    sum += items[*kind == 's' ? i % ITEMS : order[i % ITEMS]].key;
    __asm__ volatile("" : "+r"(sum));
  }
  seen = sum;
  return at;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *work(void *number) {
  double *slice = slices + (long)number * (count / SLICE);
  struct item *at = items;
  pthread_barrier_wait(&all_begin);
  for (long i = 0; i < count; i += SLICE) {
    double start = now();
    at = walk(at, i);
    *slice++ = now() - start;
  }
  seen = at->key;
  return NULL;
}

static int compare(const void *a, const void *b) {
  double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

/* A circle over all items, in a random order. */
static void make(void) {
  items = aligned_alloc(64, ITEMS * sizeof *items);
  order = malloc(ITEMS * sizeof *order);
  for (unsigned i = 0; i < ITEMS; i++) {
    unsigned other = (unsigned)rand() % (i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  for (unsigned i = 0; i < ITEMS; i++) {
    items[order[i]].next = &items[order[(i + 1) % ITEMS]];
    items[i].key = i;
  }
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS_MAX];
  int number = argc == 4 ? atoi(argv[3]) : 0;
  if (number < 1 || number > THREADS_MAX)
    return 2;
  kind = argv[1];
  count = atol(argv[2]) / SLICE * SLICE;
  make();
  long all = number * (count / SLICE);
  slices = malloc((unsigned long)all * sizeof *slices);
  pthread_barrier_init(&all_begin, NULL, (unsigned)number);
  for (long i = 1; i < number; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  work(NULL);
  for (int i = 1; i < number; i++)
    pthread_join(threads[i], NULL);
  qsort(slices, (size_t)all, sizeof *slices, compare);
  printf("%.4f\n", slices[all / 2] / SLICE);
  return 0;
}
