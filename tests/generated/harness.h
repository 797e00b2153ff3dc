/* harness.h: what a generated program sees of the harness that runs it (harness.c).
 *
 * A program is a few threads. Each waits in gate() before a stretch of its work until the script
 * says that it is its turn, so a run is one fixed order of steps. gate_quiet() is the same,
 * described to the compiler in library.unsafe as a function that writes nothing: what was noted
 * before it still is after it.
 */
#pragma once

#include "nvmove/nvmove.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

enum { GEN_THREADS_MAX = 4, GEN_LOCKS_MAX = 5 };

struct gen_program {
  unsigned threads;
  void (*body[GEN_THREADS_MAX])(void);
};
struct gen_table {
  unsigned programs;
  const struct gen_program *program;
  uint64_t (*world_type)(void); /* the root's */
  unsigned world_bytes;
  void (*fill)(void *world);
  void (*start)(NVM_POOL *pool, void *world, void *side); /* a block of a second pool, or null */
};

struct gen_lock {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  pthread_spinlock_t spin;
  sem_t semaphore;
  mtx_t mtx;
  pthread_cond_t condition;
};
extern struct gen_lock gen_locks[GEN_LOCKS_MAX];
extern volatile u64 *gen_objects; /* the address of each block, as its allocation gave it */

void gate(unsigned thread, unsigned segment);
void gate_quiet(unsigned thread, unsigned segment);
/* `allowed`: a bit for each errno of nvmove's that the call may fail with; bit 0: it may succeed.
 */
void gen_check(int result, unsigned allowed, unsigned op);

/* A child that has memory as it is now, and cannot commit. */
void gen_fork(unsigned op);

/* library.c: never compiled by nvmove-cc. */
void ext_fill(void *to, unsigned long bytes, unsigned value);
void ext_touch(pthread_mutex_t *mutex);
u64 ext_mix(u64 a, u64 b);

/* Waiting for a condition that nobody signals releases the mutex and takes it again. */
static inline void gen_wait(struct gen_lock *lock) {
  struct timespec past = {0, 0};
  pthread_cond_timedwait(&lock->condition, &lock->mutex, &past);
}
