/* loads.c: a known number of loads of 8 bytes: one after the other, at random, each at the place that the
 * last one names. Prints how many, and nanoseconds.
 *
 * usage: loads sequential|random|chasing COUNT THREADS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEMS = 1 << 12 };

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

static long walk(void) {
  long sum = 0;
  if (!strcmp(kind, "chasing")) {
    struct item *at = items;
    for (long i = 0; i < count; i++)
      at = at->next;
    return at->key;
  }
  for (long i = 0; i < count; i++) {
    sum += items[*kind == 's' ? i % ITEMS : order[i % ITEMS]].key;
    __asm__ volatile("" : "+r"(sum));
  }
  return sum;
}

static void *work(void *unused) {
  seen = walk();
  return unused;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
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
  pthread_t threads[16];
  if (argc != 4)
    return 2;
  kind = argv[1];
  count = atol(argv[2]);
  int number = atoi(argv[3]);
  make();
  double start = now();
  for (int i = 1; i < number; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  work(NULL);
  for (int i = 1; i < number; i++)
    pthread_join(threads[i], NULL);
  printf("%ld %.0f\n", count, now() - start);
  return 0;
}
