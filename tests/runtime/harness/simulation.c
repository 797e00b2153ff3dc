/* simulation.c: see simulation.h.
 *
 * A table of persist functions keeps a second copy of the file, the media. A flush or a streamed
 * line takes the line as it is; the fence of the same thread brings it to the media. At the chosen
 * event the power fails: every 8-byte word that differs between file and media is kept or lost at
 * random (a cache may have written back anything), lines on their way likewise.
 */
#define _GNU_SOURCE
#include "simulation.h"

#include "base/own_locks.h"
#include "core/map.h"
#include "harness.h"
#include "hooks.h"
#include "sparse.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEDIA_MAX = 16 << 20, PENDING_MAX = 1 << 18, LINE = 64, SEEDS = 14 };
enum { WHOLE_SEEDS = 8 }; /* those that draw for each line */
enum { FEW_EVENTS = 12 }; /* a short test lets the power fail at each of them */

struct pending {
  uint64_t offset;
  unsigned thread; /* whose fence it waits for */
  uint64_t event;  /* when it was taken: an older content never replaces a newer one */
  char bytes[LINE];
};

static struct {
  char *media, *before;
  unsigned char
      pages[MEDIA_MAX / SPARSE_PAGE]; /* of these, and of the file, that may not be zero */
  struct pending *pending;
  unsigned count;
  uint64_t events, counted;
  bool held;
  uint64_t arrived[MEDIA_MAX / LINE]; /* of each line: when what the media holds was taken */
  struct power_cut cut;
  struct nvmi_mutex
      lock; /* one event at a time, and none once the power has failed; it belongs to the
             * machine, not to the program, so libnvmove must not see it handed on */
  unsigned threads;
} sim = {.lock = {.rank = NVMI_LOCK_TRACE}};

static unsigned this_thread(void) {
  static _Thread_local unsigned number;
  return number ? number : (number = ++sim.threads);
}

static uint64_t random_word(void) {
  sim.cut.seed = sim.cut.seed * 6364136223846793005u + 1442695040888963407u;
  return sim.cut.seed >> 33;
}

static uint64_t offset_of(const void *address) {
  const struct nvm_pool *pool = nvmi_pool_number(0);
  uint64_t in_home = (uint64_t)((const char *)address - pool->home);
  uint64_t offset = in_home < pool->header.range ? in_home : nvmi_offset(pool, address);
  CHECK(offset < MEDIA_MAX);
  return offset;
}

static void take(const void *address) {
  uint64_t offset = offset_of(address) & ~(uint64_t)(LINE - 1);
  CHECK(sim.count < PENDING_MAX);
  struct pending *p = &sim.pending[sim.count++];
  p->offset = offset;
  p->thread = this_thread();
  p->event = sim.events;
  memcpy(p->bytes, nvmi_pool_number(0)->home + offset, LINE);
}

/* Of each line that differs, or in every third failure of each word, the newer is kept with a
 * chance that is this failure's own: none, some, or all of what was on its way has arrived. */
static void mix(char *image, const char *newer, uint64_t size, unsigned chance, bool by_word) {
  uint64_t unit = by_word ? 8 : LINE;
  for (uint64_t i = 0; i < size; i += unit)
    if (!sparse_equal(image + i, newer + i, unit) && random_word() % 8 < chance)
      memcpy(image + i, newer + i, unit);
}

/* All that was stored since the arming has arrived; nothing of what was there before. */
static void mix_new(const struct nvm_pool *pool, uint64_t start, uint64_t size) {
  for (uint64_t i = start; i < start + size; i += LINE)
    if (!sparse_equal(sim.before + i, pool->home + i, LINE))
      memcpy(sim.media + i, pool->home + i, LINE);
}

/* What the caches had. */
static void mix_caches(const struct nvm_pool *pool, unsigned evicted, bool by_word) {
  uint64_t size = pool->header.heap_offset + pool->header.heap_size;
  for (uint64_t at = 0; at < size; at += SPARSE_PAGE)
    if (!sim.pages[at / SPARSE_PAGE])
      continue;
    else if (sim.cut.loses_old)
      mix_new(pool, at, SPARSE_PAGE);
    else
      mix(sim.media + at, pool->home + at, SPARSE_PAGE, evicted, by_word);
}

static void fail_now(void) {
  const struct nvm_pool *pool = nvmi_pool_number(0);
  struct stat status;
  CHECK(fstat(pool->fd, &status) == 0 && status.st_size <= MEDIA_MAX);
  static const unsigned chances[] = {0, 1, 4, 7, 8};
  int one = sim.cut.kills ? 0 : sim.cut.one;
  unsigned from_end = (unsigned)abs(one), chosen = from_end < sim.count ? sim.count - from_end : 0;
  unsigned chance = sim.cut.kills || sim.cut.loses_old ? 8 : chances[sim.cut.seed % 5],
           evicted = one ? 0 : chances[sim.cut.seed / 5 % 5];
  bool by_word = !one && !sim.cut.kills && sim.cut.seed % 3 == 0;
  for (unsigned i = 0; i < sim.count; i++) {
    if (one)
      chance = (i == chosen) == (one > 0) ? 8 : 0;
    if (sim.pending[i].event >= sim.arrived[sim.pending[i].offset / LINE])
      mix(sim.media + sim.pending[i].offset, sim.pending[i].bytes, LINE, chance, by_word);
  }
  sparse_mark(sim.cut.path, sim.pages);
  if (!sim.cut.kills || sim.cut.loses_old)
    mix_caches(pool, evicted, by_word);
  sparse_write(sim.cut.image, sim.media, (uint64_t)status.st_size, sim.pages);
  test_power_cut();
}

static void begin_event(void) {
  nvmi_lock(&sim.lock);
  sim.events++;
  if (!sim.held && ++sim.counted == sim.cut.at)
    fail_now();
}

static void end_event(void) { nvmi_unlock(&sim.lock); }

static void sim_stream(void *to, const void *from, size_t size) {
  begin_event();
  memcpy(to, from, size);
  for (size_t at = 0; at < size; at += LINE)
    take((char *)to + at);
  end_event();
}

/* As on processors where an append goes through the cache: it may be there, and not flushed. */
static void sim_append(void *to, const void *from, size_t size) {
  begin_event();
  memcpy(to, from, size);
  end_event();
  begin_event();
  for (size_t at = 0; at < size; at += LINE)
    take((char *)to + at);
  end_event();
}

void (*power_flush)(const void *address);

static void sim_flush(const void *address, size_t size) {
  if (power_flush)
    power_flush(address);
  begin_event();
  NVMI_FOR_LINES(line, address, size)
  if (!sim.cut.broken_flush)
    take((void *)line);
  end_event();
}

static void fence(bool of_others) {
  begin_event();
  unsigned kept = 0;
  for (unsigned i = 0; i < sim.count; i++) {
    const struct pending *p = &sim.pending[i];
    uint64_t *arrived = &sim.arrived[p->offset / LINE];
    if ((p->thread == this_thread()) == of_others) {
      sim.pending[kept++] = *p;
    } else if (!sim.cut.broken_fence && p->event >= *arrived) {
      memcpy(sim.media + p->offset, p->bytes, LINE);
      *arrived = p->event;
    }
  }
  sim.count = kept;
  end_event();
}

static void sim_fence(void) { fence(false); }

/* membarrier(2) interrupts each other running thread of the process. For the one that calls it the
 * kernel promises an order of what it stores to others, and does nothing where there are none. */
static void sim_barrier(void) { fence(true); }

static void sim_store_line(void *to, const void *from, uint64_t mask) {
  begin_event();
  for (int i = 0; i < LINE; i++)
    if (mask >> i & 1)
      ((char *)to)[i] = ((const char *)from)[i];
  take(to);
  end_event();
}

static const struct nvmi_persist simulation = {.name = "simulation",
                                               .stream = sim_stream,
                                               .append = sim_append,
                                               .flush = sim_flush,
                                               .fence = sim_fence,
                                               .store_line = sim_store_line};

/* Everything durable at first: the pool was closed; or as an earlier process left the media. */
void power_arm(const struct power_cut *cut) {
  void *media = mmap(NULL, MEDIA_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *pending = mmap(NULL, PENDING_MAX * sizeof *sim.pending, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(media != MAP_FAILED && pending != MAP_FAILED);
  sparse_read(cut->media ? cut->media : cut->path, media, sim.pages);
  if (cut->loses_old) {
    sim.before = mmap(NULL, MEDIA_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(sim.before != MAP_FAILED);
    sparse_read(cut->path, sim.before, sim.pages);
  }
  hook_sparse = true;
  sim.media = media;
  sim.pending = pending;
  sim.cut = *cut;
  nvmi_persist_override = &simulation;
  hook_barrier = sim_barrier;
}

void power_hold(bool hold) { sim.held = hold; }

/* A file in memory. */
struct held {
  char *bytes;
  uint64_t size;
  unsigned char pages[MEDIA_MAX / SPARSE_PAGE];
};

static void hold(struct held *file, const char *path) {
  *file = (struct held){0};
  file->bytes = mmap(NULL, MEDIA_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(file->bytes != MAP_FAILED);
  file->size = sparse_read(path, file->bytes, file->pages);
}

static void put(const struct held *file, const char *path) {
  sparse_write(path, file->bytes, file->size, file->pages);
}

static void let_go(struct held *file) { munmap(file->bytes, MEDIA_MAX); }

/* The pool that `prepare` makes. */
static void make(struct held *start_file, const char *method, void (*prepare)(void *)) {
  setenv("NVMOVE_METHOD", method, 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  hook_sparse = true;
  const char *start = test_path("start");
  unlink(start);
  CHECK(test_child(NULL, prepare, (void *)(uintptr_t)start) == 0);
  hold(start_file, start);
}

/* False: it ended before. */
static bool is_cut_off(void (*act)(void *), struct power_cut *cut) {
  int status = test_child(NULL, act, cut);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
  return WEXITSTATUS(status) == POWER_CUT;
}

void power_fail_after_kills(const char *method, void (*prepare)(void *), void (*act)(void *),
                            void (*verify)(const char *)) {
  static struct held start, killed;
  make(&start, method, prepare);
  struct power_cut kill = {.path = test_path("pool"), .image = test_path("media"), .kills = true};
  struct power_cut cut = {
      .path = test_path("again"), .image = test_path("image"), .media = kill.image};
  bool died = true;
  const unsigned stride = test_is_long() ? 8 : 1;
  for (kill.at = 1; died; kill.at += 1 + kill.at / (2 * stride)) {
    put(&start, kill.path);
    died = is_cut_off(act, &kill);
    bool failed = died;
    hold(&killed, kill.path);
    for (cut.at = 1; failed; cut.at += 1 + cut.at / stride) {
      put(&killed, cut.path);
      cut.seed = kill.at * 7919 + cut.at + test_seed();
      failed = is_cut_off(act, &cut);
      verify(failed ? cut.image : cut.path);
    }
    let_go(&killed);
  }
  CHECK(kill.at > 5);
}

/* In short tests one of the seeds at an event that draw for each line, and one of the others. */
static bool has_turn(uint64_t at, unsigned seed) {
  unsigned turns = seed <= WHOLE_SEEDS ? WHOLE_SEEDS : SEEDS - WHOLE_SEEDS;
  return seed % turns == at % turns;
}

void power_fail_everywhere(const char *method, void (*prepare)(void *), void (*act)(void *),
                           void (*verify)(const char *)) {
  static struct held start;
  make(&start, method, prepare);
  const bool all = test_is_long();
  static const int ones[SEEDS] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, PENDING_MAX, -1, -PENDING_MAX};
  struct power_cut cut = {.path = test_path("pool"), .image = test_path("image")};
  bool failed = true;
  for (cut.at = 1; failed; cut.at += all ? 1 : 1 + cut.at / FEW_EVENTS)
    for (unsigned seed = 1; seed <= SEEDS && failed; seed++) {
      if (!all && !has_turn(cut.at, seed))
        continue;
      put(&start, cut.path);
      cut.seed = seed * 7919 + cut.at + test_seed();
      cut.one = ones[seed - 1];
      failed = is_cut_off(act, &cut);
      if (failed)
        verify(cut.image);
    }
  CHECK(cut.at > 5);
}
