/* driver.c: N distinct keys inserted, then N random updates, then N random reads.
 *
 * usage: PROGRAM POOL COUNT POOL_BYTES THREADS
 * prints three pairs of nanoseconds for one operation, processor time and wall clock: insert,
 * update, read. With two threads every operation holds one lock, readers share it.
 */
#include "kv.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 8 };

static uint64_t count;
static unsigned threads;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static uint64_t key_of(uint64_t i) {
  uint64_t z = i * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) >> 1 | 1;
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void fail(const char *what, uint64_t key) {
  fprintf(stderr, "%s of key %" PRIu64 " gave a wrong answer\n", what, key);
  exit(1);
}

static void fill(char *value, uint64_t word) {
  for (size_t i = 0; i < VALUE_BYTES; i += sizeof word)
    memcpy(value + i, &word, sizeof word);
}

static void insert_share(unsigned thread) {
  char value[VALUE_BYTES];
  for (uint64_t i = thread; i < count; i += threads) {
    fill(value, key_of(i));
    if (threads > 1)
      pthread_rwlock_wrlock(&lock);
    kv_insert(key_of(i), value);
    if (threads > 1)
      pthread_rwlock_unlock(&lock);
  }
}

static void update_share(unsigned thread) {
  char value[VALUE_BYTES];
  uint64_t state = 88172645463325252u + thread;
  for (uint64_t i = thread; i < count; i += threads) {
    uint64_t key = key_of(next_random(&state) % count);
    fill(value, key + 1);
    if (threads > 1)
      pthread_rwlock_wrlock(&lock);
    kv_update(key, value);
    if (threads > 1)
      pthread_rwlock_unlock(&lock);
  }
}

static void read_share(unsigned thread) {
  char value[VALUE_BYTES];
  uint64_t state = 1181783497276652981u + thread;
  for (uint64_t i = thread; i < count; i += threads) {
    uint64_t key = key_of(next_random(&state) % count), word;
    if (threads > 1)
      pthread_rwlock_rdlock(&lock);
    if (!kv_read(key, value))
      fail("a read", key);
    if (threads > 1)
      pthread_rwlock_unlock(&lock);
    memcpy(&word, value + VALUE_BYTES - sizeof word, sizeof word);
    if (word != key && word != key + 1)
      fail("a read", key);
  }
}

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

struct share {
  void (*work)(unsigned);
  unsigned thread;
};

static void *run_share(void *argument) {
  struct share *s = argument;
  s->work(s->thread);
  return NULL;
}

static void phase(const char *name, void (*work)(unsigned)) {
  double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
  if (threads == 1) {
    work(0);
  } else {
    pthread_t id[THREADS_MAX];
    struct share share[THREADS_MAX];
    for (unsigned t = 0; t < threads; t++) {
      share[t] = (struct share){work, t};
      if (pthread_create(&id[t], NULL, run_share, &share[t]))
        fail("the start of a thread", t);
    }
    for (unsigned t = 0; t < threads; t++)
      pthread_join(id[t], NULL);
  }
  printf("%s %.1f %.1f\n", name, (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)count,
         (now(CLOCK_MONOTONIC) - wall) / (double)count);
}

int main(int argc, char **argv) {
  if (argc != 5 || !(count = strtoull(argv[2], NULL, 10)) || !(threads = (unsigned)atoi(argv[4])) ||
      threads > THREADS_MAX) {
    fprintf(stderr, "usage: %s POOL COUNT POOL_BYTES THREADS\n", argv[0]);
    return 2;
  }
  kv_make(argv[1], count, strtoull(argv[3], NULL, 10));
  phase("insert", insert_share);
  phase("update", update_share);
  phase("read", read_share);
  return 0;
}
