/* power.c: a simulated power failure: what was not flushed and fenced may be lost, word by word.
 *
 * A table of persist functions keeps a second copy of the file, the media. A flush or a streamed
 * line takes the line as it is; the fence of the same thread brings it to the media. At the chosen
 * event the power fails: every 8-byte word that differs between file and media is kept or lost at
 * random (a cache may have written back anything), lines on their way likewise. The image is then
 * opened like any pool.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "internal.h"
#include "workload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEDIA_MAX = 16 << 20, PENDING_MAX = 1 << 18, LINE = 64 };

struct pending {
  uint64_t offset;
  char bytes[LINE];
};

static struct {
  char *media;
  struct pending *pending;
  unsigned count;
  uint64_t fail_at, events, seed;
  const char *image;
  bool broken_flush, broken_fence; /* the simulation's own tests: it must notice */
} sim;

static uint64_t random_word(void) {
  sim.seed = sim.seed * 6364136223846793005u + 1442695040888963407u;
  return sim.seed >> 33;
}

static uint64_t offset_of(const void *address) {
  const struct nvm_pool *pool = nvmi_pool_number(0);
  uint64_t in_home = (uint64_t)((const char *)address - pool->home);
  uint64_t offset = in_home < pool->header.span ? in_home : nvmi_offset(pool, address);
  CHECK(offset < MEDIA_MAX);
  return offset;
}

static void take(const void *address) {
  uint64_t offset = offset_of(address) & ~(uint64_t)(LINE - 1);
  CHECK(sim.count < PENDING_MAX);
  struct pending *p = &sim.pending[sim.count++];
  p->offset = offset;
  memcpy(p->bytes, nvmi_pool_number(0)->home + offset, LINE);
}

/* Of each line that differs, or in every third failure of each word, the newer is kept with a
 * chance that is this failure's own: none, some, or all of what was on its way has arrived. */
static void mix(char *image, const char *newer, uint64_t size, unsigned chance, bool by_word) {
  uint64_t unit = by_word ? 8 : LINE;
  for (uint64_t i = 0; i < size; i += unit)
    if (memcmp(image + i, newer + i, unit) != 0 && random_word() % 8 < chance)
      memcpy(image + i, newer + i, unit);
}

static void fail_now(void) {
  const struct nvm_pool *pool = nvmi_pool_number(0);
  struct stat status;
  CHECK(fstat(pool->fd, &status) == 0 && status.st_size <= MEDIA_MAX);
  static const unsigned chances[] = {0, 1, 4, 7, 8};
  unsigned chance = chances[sim.seed % 5], evicted = chances[sim.seed / 5 % 5];
  bool by_word = sim.seed % 3 == 0;
  for (unsigned i = 0; i < sim.count; i++)
    mix(sim.media + sim.pending[i].offset, sim.pending[i].bytes, LINE, chance, by_word);
  mix(sim.media, pool->home, pool->header.heap_offset + pool->header.heap_size, evicted, by_word);
  int fd = open(sim.image, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  CHECK(write(fd, sim.media, (size_t)status.st_size) == status.st_size);
  _exit(33);
}

static void event(void) {
  if (++sim.events == sim.fail_at)
    fail_now();
}

static void sim_stream(void *to, const void *from, size_t size) {
  event();
  memcpy(to, from, size);
  for (size_t at = 0; at < size; at += LINE)
    take((char *)to + at);
}

static void sim_flush(const void *address, size_t size) {
  event();
  NVMI_FOR_LINES(line, address, size)
  if (!sim.broken_flush)
    take((void *)line);
}

static void sim_fence(void) {
  event();
  for (unsigned i = 0; i < sim.count && !sim.broken_fence; i++)
    memcpy(sim.media + sim.pending[i].offset, sim.pending[i].bytes, LINE);
  sim.count = 0;
}

static void sim_store_line(void *to, const void *from, uint64_t mask) {
  event();
  for (int i = 0; i < LINE; i++)
    if (mask >> i & 1)
      ((char *)to)[i] = ((const char *)from)[i];
  take(to);
}

static const struct nvmi_persist simulation = {"simulation", sim_stream, sim_stream,
                                               sim_flush,    sim_fence,  sim_store_line};

struct failure {
  const char *path, *image;
  struct progress *progress;
  uint64_t at, seed, begin, end; /* transactions from `begin` to `end` */
  bool broken_flush, broken_fence;
};

/* Everything durable at first: the pool was closed. */
static void run_until_failure(void *argument) {
  struct failure *f = argument;
  void *media = mmap(NULL, MEDIA_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *pending = mmap(NULL, PENDING_MAX * sizeof *sim.pending, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(media != MAP_FAILED && pending != MAP_FAILED);
  int fd = open(f->path, O_RDONLY);
  CHECK(fd >= 0 && read(fd, media, MEDIA_MAX) > 0);
  close(fd);
  sim.media = media;
  sim.pending = pending;
  sim.fail_at = f->at;
  sim.seed = f->seed;
  sim.image = f->image;
  sim.broken_flush = f->broken_flush;
  sim.broken_fence = f->broken_fence;
  nvmi_persist_override = &simulation;
  workload_run(f->path, f->progress, f->end);
}

static void copy_to(const char *from, const char *to) {
  static char bytes[MEDIA_MAX];
  int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  ssize_t size = read(in, bytes, sizeof bytes);
  CHECK(size > 0 && write(out, bytes, (size_t)size) == size);
  close(in);
  close(out);
}

/* The power fails at event `f->at` of the transactions. False: there are not so many
 * events. */
static bool fail_once(struct failure *f, const char *start) {
  f->path = test_path("pool");
  f->image = test_path("image");
  f->progress->acknowledged = f->begin;
  copy_to(start, f->path);
  int status = test_child(NULL, run_until_failure, f);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 33));
  return WEXITSTATUS(status) == 33;
}

static const char *prepared_pool(uint64_t transactions) {
  const char *start = test_path("start");
  struct progress *progress = progress_new();
  setenv("NVMOVE_DOMAIN", "power", 1);
  workload_run(start, progress, transactions);
  return start;
}

static void power_fails(const char *method, uint64_t begin, unsigned stride) {
  setenv("NVMOVE_METHOD", method, 1);
  struct failure f = {.progress = progress_new(), .begin = begin, .end = begin + 12};
  const char *start = prepared_pool(begin);
  unsigned states = 0;
  for (f.at = 1, f.seed = 1;; f.at += 1 + f.at / stride, f.seed++) {
    if (!fail_once(&f, start))
      break;
    workload_verify(f.image, f.progress);
    states++;
  }
  CHECK(states > 100);
}

TEST_ONCE(power_failure_undo) { power_fails("undo", 4, 100); }

TEST_ONCE(power_failure_shadow) { power_fails("shadow", 4, 100); }

/* As if other threads had logs: commits wait for their stores in place, and store no neighbours. */
static void several(NVM_POOL *pool) { pool->several_logs = true; }

TEST_ONCE(power_failure_several_undo) {
  workload_opened = several;
  power_fails("undo", 4, 60);
}

TEST_ONCE(power_failure_several_shadow) {
  workload_opened = several;
  power_fails("shadow", 4, 60);
}

/* Runs come free and get another use. */
TEST_ONCE(power_failure_late_undo) { power_fails("undo", 150, 40); }

TEST_ONCE(power_failure_late_shadow) { power_fails("shadow", 150, 40); }

/* The power fails, and again during recovery. */
static void power_fails_twice(const char *method) {
  setenv("NVMOVE_METHOD", method, 1);
  struct failure f = {.progress = progress_new(), .begin = 4, .end = 16};
  const char *start = prepared_pool(4), *once = test_path("once");
  for (f.at = 40, f.seed = 7; f.at < 400; f.at += 90) {
    f.end = 16;
    if (!fail_once(&f, start))
      break;
    copy_to(f.image, once);
    uint64_t acknowledged = f.progress->acknowledged;
    struct failure again = f;
    again.end = 0; /* open, recover, close */
    again.begin = acknowledged;
    for (again.at = 1; again.at < 60; again.at += 3, again.seed++) {
      again.progress = progress_new();
      bool failed = fail_once(&again, once);
      workload_verify(failed ? again.image : again.path, again.progress);
      if (!failed)
        break;
    }
  }
}

TEST_ONCE(power_failure_during_recovery_undo) { power_fails_twice("undo"); }

TEST_ONCE(power_failure_during_recovery_shadow) { power_fails_twice("shadow"); }

static void verify_image(void *argument) {
  struct failure *f = argument;
  workload_verify(f->image, f->progress);
}

/* The simulation is worth something: with flushes or fences that do nothing it finds wrong states.
 */
static void notices(const char *method, bool broken_flush, bool broken_fence) {
  setenv("NVMOVE_METHOD", method, 1);
  struct failure f = {.progress = progress_new(),
                      .begin = 4,
                      .end = 16,
                      .broken_flush = broken_flush,
                      .broken_fence = broken_fence};
  const char *start = prepared_pool(4);
  unsigned wrong = 0;
  for (f.at = 20, f.seed = 1; fail_once(&f, start) && !wrong; f.at += 7, f.seed++)
    wrong += test_child(NULL, verify_image, &f) != 0;
  CHECK(wrong > 0);
}

TEST_ONCE(simulation_notices_missing_flushes) {
  if (!freopen("/dev/null", "w", stderr))
    abort();
  notices("undo", true, false);
}

TEST_ONCE(simulation_notices_missing_fences) {
  if (!freopen("/dev/null", "w", stderr))
    abort();
  notices("shadow", false, true);
}
