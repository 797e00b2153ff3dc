/* pmemobj.c: the workloads on libpmemobj, with what its manual recommends for each. */
#include "bench.h"

#include "ours.h"

#include <libpmemobj.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 8 << 20 };

static PMEMobjpool *create(const char *path, size_t size) {
  int prefault = 1;
  pmemobj_ctl_set(NULL, "prefault.at_create", &prefault);
  PMEMobjpool *pool = pmemobj_create(path, "bench", size, 0600);
  if (!pool) {
    printf("%s\n", pmemobj_errormsg());
    fflush(stdout);
    _exit(1);
  }
  return pool;
}

void peer_writes(const char *path, const struct workload *w, struct measure *result) {
  PMEMobjpool *pool = create(path, (size_t)160 << 20);
  PMEMoid oid;
  if (pmemobj_zalloc(pool, &oid, WORDS * sizeof(uint64_t), 0))
    _exit(1);
  uint64_t *array = pmemobj_direct(oid), state = 88172645463325252u;
  bench_start();
  for (uint64_t t = 0; t < w->operations; t++) {
    TX_BEGIN(pool) {
      for (size_t i = 0; i < w->parameter; i++) {
        uint64_t *at = &array[bench_random(&state) & (WORDS - 1)];
        pmemobj_tx_add_range_direct(at, sizeof *at);
        *at = i;
      }
    }
    TX_END
  }
  bench_stop(result, w->operations);
}

struct threads {
  const struct workload *w;
  PMEMobjpool *pool;
  uint64_t *array;
};

static void write_in_thread(void *argument, unsigned number) {
  const struct threads *t = argument;
  uint64_t state = 88172645463325252u + number;
  for (uint64_t i = 0; i < t->w->operations / t->w->threads; i++) {
    TX_BEGIN(t->pool) {
      for (size_t j = 0; j < t->w->parameter; j++) {
        uint64_t *at = &t->array[(bench_random(&state) & (WORDS / 8 - 1)) * 8 + number];
        pmemobj_tx_add_range_direct(at, sizeof *at);
        *at = j;
      }
    }
    TX_END
  }
}

void peer_threads(const char *path, const struct workload *w, struct measure *result) {
  struct threads t = {.w = w, .pool = create(path, (size_t)160 << 20)};
  PMEMoid oid;
  if (pmemobj_zalloc(t.pool, &oid, WORDS * sizeof(uint64_t), 0))
    _exit(1);
  t.array = pmemobj_direct(oid);
  bench_start();
  bench_threads(w->threads, write_in_thread, &t);
  bench_stop(result, w->operations);
}

void peer_alloc(const char *path, const struct workload *w, struct measure *result) {
  PMEMobjpool *pool = create(path, bench_room(w));
  PMEMoid oid;
  if (pmemobj_zalloc(pool, &oid, w->operations * sizeof(PMEMoid), 0))
    _exit(1);
  PMEMoid *slots = pmemobj_direct(oid);
  bench_start();
  for (uint64_t i = 0; i < w->operations; i++) {
    TX_BEGIN(pool) {
      pmemobj_tx_add_range_direct(&slots[i], sizeof slots[i]);
      slots[i] = pmemobj_tx_alloc(w->parameter, 7);
    }
    TX_END
  }
  bench_stop(result, w->operations);
}

static void fill(const char *path, const struct workload *w) {
  PMEMobjpool *pool = create(path, (size_t)6 << 30);
  PMEMoid *slots = pmemobj_direct(pmemobj_root(pool, w->operations * sizeof *slots));
  for (uint64_t i = 0; i < w->operations;) {
    TX_BEGIN(pool) {
      uint64_t end = i + 1000 < w->operations ? i + 1000 : w->operations;
      pmemobj_tx_add_range_direct(&slots[i], (end - i) * sizeof *slots);
      for (; i < end; i++) {
        slots[i] = pmemobj_tx_alloc(w->parameter, 7);
        *(uint64_t *)pmemobj_direct(slots[i]) = i;
      }
    }
    TX_END
  }
}

void peer_reopen(const char *path, const struct workload *w, struct measure *result) {
  pid_t child = fork();
  if (child == 0) {
    fill(path, w);
    _exit(0); /* not closed: the next opening recovers */
  }
  int status;
  waitpid(child, &status, 0);
  if (status)
    _exit(1);
  double start = wall_seconds();
  PMEMobjpool *pool = pmemobj_open(path, "bench");
  result->extra[0] = 1e9 * (wall_seconds() - start);
  if (!pool)
    _exit(1);
  start = wall_seconds();
  const PMEMoid *slots = pmemobj_direct(pmemobj_root(pool, 0));
  if (*(uint64_t *)pmemobj_direct(slots[w->operations - 1]) != w->operations - 1)
    _exit(1);
  result->extra[1] = 1e9 * (wall_seconds() - start);
  start = wall_seconds();
  TX_BEGIN(pool) { pmemobj_tx_alloc(w->parameter, 7); }
  TX_ONABORT { _exit(1); }
  TX_END
  result->extra[2] = 1e9 * (wall_seconds() - start);
}
