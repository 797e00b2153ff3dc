/* floor.c: what a durable transaction must cost on this machine: the protocol and nothing else.
 *
 * No allocator, filter, checksum, thread or recovery: a log of whole lines in a ring, written and
 * fenced by the library's own choice of instructions (runtime/platform/persist.h), and the writes.
 * Undo: an entry and a fence before each write, then flush and commit record under one fence. Redo:
 * the writes go to a private view, one record and one fence, then the same bytes go to the file,
 * not waited for, by the quicker way for so many. What libpmemobj takes over these is what no
 * implementation of that protocol can exceed here.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "platform/persist.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 8 << 20, RING = 64 << 10, LINE = 64, RECORD_MAX = LINE + 16 * 256 };
enum { STREAMED_MIN = 8 }; /* writes of which whole lines past the cache are the quicker */

struct view {
  const struct nvmi_persist *persist;
  uint64_t *home, *work; /* the array in the file, and as the program sees it */
  char *ring;
  size_t at; /* in the ring */
};

static void *map(int fd, size_t offset, size_t size, int flags) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
  if (at == MAP_FAILED)
    _exit(1);
  return at;
}

/* Every page is there, in both views; no more is in the caches than with ours.c. */
static struct view open_view(const char *path, int is_private) {
  struct view v = {.persist = nvmi_persist_power()};
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  size_t bytes = WORDS * sizeof *v.home;
  if (fd < 0 || ftruncate(fd, (off_t)(bytes + RING)))
    _exit(1);
  v.home = map(fd, 0, bytes, MAP_SHARED);
  v.work = is_private ? map(fd, 0, bytes, MAP_PRIVATE) : v.home;
  v.ring = map(fd, bytes, RING, MAP_SHARED);
  for (size_t i = 0; i < WORDS; i += 512) {
    *(volatile uint64_t *)&v.home[i] = i;
    *(volatile uint64_t *)&v.work[i] = i;
  }
  memset(v.ring, 1, RING);
  return v;
}

static void append(struct view *v, const void *from, size_t size) {
  if (v->at + size > RING)
    v->at = 0;
  v->persist->append(v->ring + v->at, from, size);
  v->at += size;
}

void floor_undo(const char *path, const struct workload *w, struct measure *result) {
  struct view v = open_view(path, 0);
  _Alignas(LINE) uint64_t entry[LINE / 8] = {0};
  uint64_t state = 88172645463325252u, *written[256];
  bench_start();
  for (uint64_t t = 0; t < w->operations; t++) {
    for (size_t i = 0; i < w->parameter; i++) {
      uint64_t *at = written[i] = &v.work[bench_random(&state) & (WORDS - 1)];
      __builtin_prefetch(at, 1);
      entry[0] = (uint64_t)(at - v.work);
      entry[1] = *at;
      append(&v, entry, LINE);
      v.persist->fence();
      *at = i;
    }
    for (size_t i = 0; i < w->parameter; i++)
      v.persist->flush(written[i], sizeof **written);
    entry[0] = t;
    append(&v, entry, LINE);
    v.persist->fence();
  }
  bench_stop(result, w->operations);
}

void floor_redo(const char *path, const struct workload *w, struct measure *result) {
  struct view v = open_view(path, 1);
  _Alignas(LINE) char record[RECORD_MAX];
  uint64_t state = 88172645463325252u, written[256];
  memset(record, 0, sizeof record);
  bench_start();
  for (uint64_t t = 0; t < w->operations; t++) {
    size_t used = 40; /* a frame's head */
    for (size_t i = 0; i < w->parameter; i++, used += 16) {
      written[i] = bench_random(&state) & (WORDS - 1);
      __builtin_prefetch(&v.work[written[i]], 1);
      if (w->parameter < STREAMED_MIN)
        __builtin_prefetch(&v.home[written[i]], 1);
      v.work[written[i]] = i;
      memcpy(record + used, &written[i], 8);
      memcpy(record + used + 8, &v.work[written[i]], 8);
    }
    append(&v, record, (used + LINE - 1) & ~(size_t)(LINE - 1));
    v.persist->fence();
    for (size_t i = 0; i < w->parameter; i++) {
      size_t line = written[i] & ~(size_t)7;
      if (w->parameter >= STREAMED_MIN) {
        v.persist->stream(&v.home[line], &v.work[line], LINE);
        continue;
      }
      v.home[written[i]] = v.work[written[i]];
      v.persist->flush(&v.home[line], LINE);
    }
  }
  bench_stop(result, w->operations);
}
