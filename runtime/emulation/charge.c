/* charge.c: what accesses cost: see emulation.h, profile.h. */
#define _GNU_SOURCE
#include "base/basics.h"
#include "base/settings.h"
#include "emulation/cache.h"
#include "emulation/clock.h"
#include "emulation/emulation.h"
#include "emulation/profile.h"

#include "nvmove/abi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  LINE_SHIFT = 6,
  PENDING_MAX = 512,       /* lines of a thread that wait for a commit, in the model `cached` */
  INTERRUPTED = 2000,      /* nanoseconds: a wait that ends so late was interrupted */
  CALIBRATION_ROUNDS = 10, /* short ones: the least is one that nothing interrupted */
  CALIBRATION_WAITS = 100,
  CALIBRATION_WAIT = 200, /* nanoseconds */
  USAGE_STATUS = 2
};
static const double LINE_TRANSFER = 64000; /* nanoseconds for a line at 1 MB/s */

struct charged {
  struct charged *next;
  uint64_t loads, lines_loaded, stores, lines_stored, hits, flushes, commits, interrupted;
  uint64_t asked;  /* nanoseconds */
  uint64_t waited; /* ticks */
  int64_t late;    /* ticks that the last wait took more */
  unsigned pending_count;
  uint64_t pending[PENDING_MAX]; /* a table of lines; 0: none */
};

static struct nvmi_profile profile;
static int64_t interrupted_ticks;
static double transfer_time; /* of a line, nanoseconds */
static struct sites {
  unsigned sources, loads, stores, copies, commits;
} sites;
/* Whether accesses are charged, or counted at least. */
static atomic_bool charges;
static bool emulates;
static _Atomic(struct charged *) all;
static _Thread_local struct charged *own __attribute__((tls_model("initial-exec")));

bool nvmi_emulates(void) { return emulates; }

static _Noreturn void refuse(const char *setting, const char *fault) {
  nvmi_tell("nvmove: %s: %s\n", setting, fault);
  _exit(USAGE_STATUS);
}

static struct charged *self_make(void) {
  struct charged *made = nvmi_dram_reserve(sizeof *made);
  if (!made)
    refuse("emulation", "out of memory for the counts of a thread");
  made->next = atomic_load(&all);
  while (!atomic_compare_exchange_weak(&all, &made->next, made))
    continue;
  own = made;
  return made;
}

static inline struct charged *self(void) { return NVMI_LIKELY(own != NULL) ? own : self_make(); }

/* Until so long behind `start`, less what earlier waits took more. */
static void spend(struct charged *me, uint64_t start, uint64_t nanoseconds) {
  me->asked += nanoseconds;
  if (profile.is_virtual || !nanoseconds)
    return;
  uint64_t wanted = nvmi_clock_ticks(nanoseconds);
  int64_t left = (int64_t)wanted - me->late - (int64_t)nvmi_clock.overhead;
  uint64_t now = nvmi_clock_now();
  while ((int64_t)(now - start) < left)
    now = nvmi_clock_now();
  int64_t late = (int64_t)(now - start) - left;
  bool is_interrupted = late > interrupted_ticks;
  me->interrupted += is_interrupted;
  me->late = is_interrupted ? 0 : late;
  me->waited += is_interrupted ? wanted : now - start + nvmi_clock.overhead;
}

static uint64_t lines_of(const void *address, size_t size) {
  uint64_t first = (uintptr_t)address >> LINE_SHIFT;
  return size ? (((uintptr_t)address + size - 1) >> LINE_SHIFT) - first + 1 : 0;
}

/* As long as the bandwidth allows at least. */
static uint64_t transfer(uint64_t time, uint64_t lines) {
  uint64_t least = (uint64_t)((double)lines * transfer_time);
  return time > least ? time : least;
}

static void charge_commit(struct charged *me, uint64_t start) {
  if (!me->pending_count)
    return;
  uint64_t lines = me->pending_count;
  me->flushes += lines;
  me->commits++;
  me->pending_count = 0;
  memset(me->pending, 0, sizeof me->pending);
  spend(me, start, lines * profile.clwb + transfer(profile.write, lines) + profile.commit);
}

/* Half of the table is full: it is written back, as a cache does by itself. */
static void remember(struct charged *me, uint64_t line) {
  uint64_t at = line * UINT64_C(0x9e3779b97f4a7c15) >> 55;
  while (me->pending[at % PENDING_MAX] && me->pending[at % PENDING_MAX] != line)
    at++;
  if (me->pending[at % PENDING_MAX] == line)
    return;
  me->pending[at % PENDING_MAX] = line;
  if (++me->pending_count == PENDING_MAX / 2)
    charge_commit(me, nvmi_clock_now());
}

static void load_cached(struct charged *me, uint64_t start, uint64_t line, uint64_t lines) {
  uint64_t missed = 0;
  for (uint64_t i = 0; i < lines; i++)
    missed += !nvmi_cache_touch(line + i);
  me->hits += lines - missed;
  if (missed)
    spend(me, start, transfer(missed * profile.read, missed));
}

static void store_cached(struct charged *me, uint64_t line, uint64_t lines) {
  for (uint64_t i = 0; i < lines; i++) {
    nvmi_cache_touch(line + i);
    remember(me, line + i);
  }
}

__attribute__((preserve_most)) void __nvm_charge_load(const void *Address, size_t Size) {
  if (NVMI_LIKELY(!atomic_load_explicit(&charges, memory_order_relaxed)) || !Size)
    return;
  struct charged *me = self();
  uint64_t start = nvmi_clock_now(), lines = lines_of(Address, Size);
  me->loads++;
  me->lines_loaded += lines;
  if (profile.model == NVMI_CACHED)
    load_cached(me, start, (uintptr_t)Address >> LINE_SHIFT, lines);
  else
    spend(me, start, transfer(lines * profile.read, lines));
}

__attribute__((preserve_most)) void __nvm_charge_store(const void *Address, size_t Size) {
  if (NVMI_LIKELY(!atomic_load_explicit(&charges, memory_order_relaxed)) || !Size)
    return;
  struct charged *me = self();
  uint64_t start = nvmi_clock_now(), lines = lines_of(Address, Size);
  me->stores++;
  me->lines_stored += lines;
  if (profile.model == NVMI_CACHED) {
    store_cached(me, (uintptr_t)Address >> LINE_SHIFT, lines);
    return;
  }
  me->flushes += lines;
  me->commits++;
  spend(me, start, transfer(lines * (profile.write + profile.clwb), lines) + profile.commit);
}

void __nvm_charge_commit(void) {
  if (atomic_load_explicit(&charges, memory_order_relaxed) && profile.model == NVMI_CACHED)
    charge_commit(self(), nvmi_clock_now());
}

/* What a call costs beside its wait. */
static void calibrate_overhead(void) {
  struct nvmi_profile wanted = profile;
  profile = (struct nvmi_profile){.read = CALIBRATION_WAIT};
  uint64_t least = UINT64_MAX;
  for (int round = 0; round < CALIBRATION_ROUNDS; round++) {
    uint64_t start = nvmi_clock_now();
    for (int i = 0; i < CALIBRATION_WAITS; i++)
      __nvm_charge_load(&wanted, 1);
    uint64_t taken = nvmi_clock_now() - start;
    least = taken < least ? taken : least;
  }
  uint64_t asked = nvmi_clock_ticks(CALIBRATION_WAITS * CALIBRATION_WAIT);
  nvmi_clock.overhead = least > asked ? (least - asked) / CALIBRATION_WAITS : 0;
  profile = wanted;
  *own = (struct charged){.next = own->next};
}

static bool costs_something(void) {
  return profile.read || profile.write || profile.clwb || profile.commit || profile.bandwidth;
}

/* A child of fork has one thread, and begins to count. */
static void forget(void) {
  all = NULL;
  if (own) {
    *own = (struct charged){0};
    all = own;
  }
}

static void start(void) {
  if (!costs_something() && !nvmi_setting_is("NVMOVE_STATS", "1"))
    return;
  const char *fault = profile.is_virtual ? NULL : nvmi_clock_calibrate();
  if (fault)
    refuse("emulation", fault);
  interrupted_ticks = (int64_t)nvmi_clock_ticks(INTERRUPTED);
  transfer_time = profile.bandwidth ? LINE_TRANSFER / (double)profile.bandwidth : 0;
  if (profile.model == NVMI_CACHED && !nvmi_cache_make(profile.cache))
    refuse("emulation", "out of memory for the modelled cache");
  pthread_atfork(NULL, NULL, forget);
  charges = true;
  if (!profile.is_virtual && profile.model == NVMI_WORST)
    calibrate_overhead();
}

static void sum_up(struct charged *sum) {
  for (struct charged *each = all; each; each = each->next) {
    sum->loads += each->loads;
    sum->lines_loaded += each->lines_loaded;
    sum->stores += each->stores;
    sum->lines_stored += each->lines_stored;
    sum->hits += each->hits;
    sum->flushes += each->flushes;
    sum->commits += each->commits;
    sum->interrupted += each->interrupted;
    sum->asked += each->asked;
    sum->waited += each->waited;
  }
}

__attribute__((destructor)) static void tell(void) {
  nvmi_emulation_tell_unknown();
  if (!*profile.name || !nvmi_setting_is("NVMOVE_STATS", "1"))
    return;
  struct charged sum = {0};
  sum_up(&sum);
  nvmi_tell("nvmove: charged at %u loads, %u stores and %u copies of %u sources; commits before %u "
            "outputs\n",
            sites.loads, sites.stores, sites.copies, sites.sources, sites.commits);
  double asked = (double)sum.asked, waited = (double)sum.waited / nvmi_clock.ticks;
  nvmi_tell("nvmove: emulated %s, model %s: %llu loads of %llu lines, %llu stores of %llu lines\n",
            profile.name, profile.model == NVMI_CACHED ? "cached" : "worst",
            (unsigned long long)sum.loads, (unsigned long long)sum.lines_loaded,
            (unsigned long long)sum.stores, (unsigned long long)sum.lines_stored);
  nvmi_tell("nvmove: %llu lines found in the cache, %llu written back, %llu commits\n",
            (unsigned long long)sum.hits, (unsigned long long)sum.flushes,
            (unsigned long long)sum.commits);
  if (profile.is_virtual)
    nvmi_tell("nvmove: charged %.0f ns, virtual: nobody waited\n", asked);
  else
    nvmi_tell("nvmove: charged %.0f ns; the waits took %+.2f %%; %llu were interrupted\n", asked,
              asked > 0 ? 100 * (waited - asked) / asked : 0.0,
              (unsigned long long)sum.interrupted);
}

/* The environment's setting before the one that the program was built with; the first of several. */
void __nvm_emulate(const char *Profile, const char *Types, unsigned Loads, unsigned Stores,
                   unsigned Copies, unsigned Commits) {
  char fault[256];
  emulates = true;
  nvmi_emulation_named(Types);
  sites = (struct sites){sites.sources + 1, sites.loads + Loads, sites.stores + Stores,
                         sites.copies + Copies, sites.commits + Commits};
  if (sites.sources > 1)
    return;
  const char *wish = nvmi_setting("NVMOVE_EMULATE");
  if (!wish && !*Profile)
    return;
  if (!nvmi_profile_read(wish ? wish : Profile, &profile, fault, sizeof fault))
    refuse(wish ? "NVMOVE_EMULATE" : "--emulate", fault);
  start();
}
