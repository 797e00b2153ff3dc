/* bench.h: a workload run by one system, in a process of its own. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct measure {
  double cpu_ns, wall_ns; /* for one operation */
  double extra[4];        /* what the workload says */
};

struct workload {
  const char *name;
  size_t parameter;    /* W, bytes of an object, ... */
  uint64_t operations; /* of all threads together */
  unsigned threads;    /* 0: the one that there is */
};

/* Bytes of a pool that holds the objects of the workload without growing, in either system. */
static inline size_t bench_room(const struct workload *w) {
  return w->operations * (w->parameter + w->parameter / 8 + 192) + ((size_t)256 << 20);
}

/* Times the section between the two calls, divided by operations. */
void bench_start(void);
void bench_stop(struct measure *result, uint64_t operations);

uint64_t bench_random(uint64_t *state);

/* Runs `work(argument, number)` in `threads` threads at once. */
void bench_threads(unsigned threads, void (*work)(void *, unsigned), void *argument);

/* Each system implements the workloads on a pool at `path`; bench.c runs them in turn. */
void ours_writes(const char *path, const struct workload *w, struct measure *result);
void ours_threads(const char *path, const struct workload *w, struct measure *result);
void peer_threads(const char *path, const struct workload *w, struct measure *result);
void ours_alloc(const char *path, const struct workload *w, struct measure *result);
void ours_reopen(const char *path, const struct workload *w, struct measure *result);
void ours_moving(const char *path, const struct workload *w, struct measure *result);
void ours_sweeping(const char *path, const struct workload *w, struct measure *result);
void ours_linking(const char *path, const struct workload *w, struct measure *result);
void ours_counting(const char *path, const struct workload *w, struct measure *result);
void peer_reopen(const char *path, const struct workload *w, struct measure *result);
void floor_undo(const char *path, const struct workload *w, struct measure *result);
void floor_redo(const char *path, const struct workload *w, struct measure *result);
void peer_writes(const char *path, const struct workload *w, struct measure *result);
void peer_alloc(const char *path, const struct workload *w, struct measure *result);
